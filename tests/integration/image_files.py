"""The images of the mini SDK, as tests read them."""

import hashlib
import json
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environment import DIST

SITE, SCRIPTS, PYTHON = "usr/lib/python3/dist-packages", "usr/local/bin", "/usr/bin/python3"
LAYOUT = Path(os.environ["IMAGES"]).absolute()


@dataclass(frozen=True)
class Image:
    """One of the images in the layout: its tag, and the digest of its manifest."""

    tag: str
    digest: str

    @property
    def target(self) -> str:
        """The GPU target or family that it is for."""
        return self.tag.removesuffix("-devel").partition("-")[2]


def entries() -> list[dict[str, Any]]:
    """Return what the index of the layout lists."""
    found: list[dict[str, Any]] = json.loads((LAYOUT / "index.json").read_text())["manifests"]
    return found


IMAGES = [
    Image(entry["annotations"]["org.opencontainers.image.ref.name"], entry["digest"])
    for entry in entries()
    if "annotations" in entry
]
DEVEL = [image for image in IMAGES if image.tag.endswith("-devel")]
RUNTIME = [image for image in IMAGES if image not in DEVEL]


def blob(descriptor: dict[str, Any]) -> Path:
    """Return a blob's file, after its bytes were digested."""
    path = LAYOUT / "blobs" / str(descriptor["digest"]).replace(":", "/")
    assert f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}" == descriptor["digest"]
    assert path.stat().st_size == descriptor["size"]
    return path


def document(descriptor: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON document of a blob."""
    found: dict[str, Any] = json.loads(blob(descriptor).read_text())
    return found


def manifest_of(image: Image) -> dict[str, Any]:
    """Return the manifest of an image."""
    (entry,) = (entry for entry in entries() if entry["digest"] == image.digest)
    return document(entry)


def config_of(image: Image) -> dict[str, Any]:
    """Return the config of an image."""
    return document(manifest_of(image)["config"])


def history_of(image: Image) -> list[str]:
    """Return what each layer was made from."""
    return [entry["created_by"] for entry in config_of(image)["history"]]


def wheels_of(image: Image) -> list[Path]:
    """Return the wheels whose files an image has."""
    names = [name for name in history_of(image) if name.endswith(".whl") and ": links to " not in name]
    return [next(path for path in (DIST / name, DIST / "static" / name) if path.exists()) for name in names]


def unpacked(image: Image, directory: Path) -> Path:
    """Unpack the layers of an image, one over the other; return the directory."""
    for descriptor in manifest_of(image)["layers"]:
        with tarfile.open(blob(descriptor)) as layer:
            layer.extractall(directory, filter="tar")
    return directory
