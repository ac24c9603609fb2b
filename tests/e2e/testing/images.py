"""What a layout of container images says about them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_REF_NAME: Final = "org.opencontainers.image.ref.name"


@dataclass(frozen=True)
class LocalImage:
    """An image in an OCI image layout."""

    directory: Path
    #: Digest of its manifest, `sha256:…`.
    digest: str
    #: Its tag in the layout.
    tag: str
    #: Digests of its layers, `sha256:…`, from the lowest to the highest.
    layers: tuple[str, ...]


def read_images(layout: Path) -> list[LocalImage]:
    """Read what a layout says about its images."""
    entries = json.loads((layout / "index.json").read_bytes())["manifests"]
    return [_read_image(layout, entry) for entry in entries if _REF_NAME in entry.get("annotations", {})]


def _read_image(layout: Path, entry: dict[str, Any]) -> LocalImage:
    """Read an image that the index lists."""
    manifest = json.loads((layout / "blobs" / entry["digest"].replace(":", "/")).read_bytes())
    layers = tuple(layer["digest"] for layer in manifest["layers"])
    return LocalImage(layout, entry["digest"], entry["annotations"][_REF_NAME], layers)
