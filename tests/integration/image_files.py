"""The images of the mini SDK, as tests read them."""

import hashlib
import json
import os
import tarfile
from pathlib import Path
from typing import Any

from environment import DIST

IMAGES = [Path(path).absolute() for path in os.environ["IMAGES"].split()]
DEVEL = [image for image in IMAGES if image.name.endswith("_devel")]
RUNTIME = [image for image in IMAGES if image not in DEVEL]
SITE, SCRIPTS, PYTHON = "usr/lib/python3/dist-packages", "usr/local/bin", "/usr/bin/python3"


def blob(image: Path, descriptor: dict[str, Any]) -> Path:
    """Return a blob's file, after its bytes were digested."""
    path = image / "blobs" / str(descriptor["digest"]).replace(":", "/")
    assert f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}" == descriptor["digest"]
    assert path.stat().st_size == descriptor["size"]
    return path


def manifest_of(image: Path) -> dict[str, Any]:
    """Return the manifest of an image."""
    entry, *_ = json.loads((image / "index.json").read_text())["manifests"]
    manifest: dict[str, Any] = json.loads(blob(image, entry).read_text())
    return manifest


def config_of(image: Path) -> dict[str, Any]:
    """Return the config of an image."""
    config: dict[str, Any] = json.loads(blob(image, manifest_of(image)["config"]).read_text())
    return config


def target_of(image: Path) -> str:
    """Return the GPU target or family of an image."""
    return image.name.removeprefix("image_").removesuffix("_devel")


def history_of(image: Path) -> list[str]:
    """Return what each layer was made from."""
    return [entry["created_by"] for entry in config_of(image)["history"]]


def wheels_of(image: Path) -> list[Path]:
    """Return the wheels whose files an image has."""
    names = [name for name in history_of(image) if name.endswith(".whl") and ": links to " not in name]
    return [next(path for path in (DIST / name, DIST / "static" / name) if path.exists()) for name in names]


def unpacked(image: Path, directory: Path) -> Path:
    """Unpack the layers of an image, one over the other; return the directory."""
    for descriptor in manifest_of(image)["layers"]:
        with tarfile.open(blob(image, descriptor)) as layer:
            layer.extractall(directory, filter="tar")
    return directory
