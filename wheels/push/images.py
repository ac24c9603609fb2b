"""What is pushed, and where to: images of a layout that these rules wrote, and references of a registry."""

import fnmatch
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lib.common.program import ToolError

_REF_NAME: Final = "org.opencontainers.image.ref.name"
#: What skopeo and podman call a registry.
_SCHEME: Final = "docker://"
#: A host, a repository and perhaps a tag, as the OCI distribution specification has them.
_DESTINATION: Final = re.compile(
    r"(?P<host>[A-Za-z0-9.-]+(?::\d+)?)"
    r"(?P<path>(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?"
)


@dataclass(frozen=True)
class LayerSize:
    """A layer: its digest, `sha256:…`, and its size in bytes."""

    digest: str
    size: int


@dataclass(frozen=True)
class LocalImage:
    """An image in an OCI image layout."""

    directory: Path
    #: Digest of its manifest, `sha256:…`.
    digest: str
    #: Its tag in the layout.
    tag: str
    layers: tuple[LayerSize, ...]


@dataclass(frozen=True)
class Destination:
    """Where images go."""

    #: With its port, if it was given.
    host: str
    #: With `/` at the beginning.
    path: str
    #: Empty: each image is pushed under the tag that it has.
    tag: str

    def reference(self, image: LocalImage) -> str:
        """Return the name under which an image is pushed."""
        return f"{self.host}{self.path}:{self.tag or image.tag}"


def read_images(layout: Path) -> list[LocalImage]:
    """Read what a layout says about its images."""
    entries = json.loads((layout / "index.json").read_bytes())["manifests"]
    return [_read_image(layout, entry) for entry in entries if _REF_NAME in entry.get("annotations", {})]


def _read_image(layout: Path, entry: dict[str, Any]) -> LocalImage:
    """Read an image that the index lists."""
    manifest = json.loads((layout / "blobs" / entry["digest"].replace(":", "/")).read_bytes())
    layers = tuple(LayerSize(layer["digest"], layer["size"]) for layer in manifest["layers"])
    return LocalImage(layout, entry["digest"], entry["annotations"][_REF_NAME], layers)


def parse_destination(text: str) -> Destination:
    """Parse `docker://HOST/NAME` or `docker://HOST/NAME:TAG`; raises ToolError for anything else."""
    found = _DESTINATION.fullmatch(text.removeprefix(_SCHEME))
    if not found or not text.startswith(_SCHEME):
        raise ToolError(
            f"{text}: no place for an image; expected {_SCHEME}HOST/NAME or {_SCHEME}HOST/NAME:TAG, the name in lower "
            f"case, such as {_SCHEME}registry.example.com/rocm"
        )
    return Destination(found["host"], found["path"], found["tag"] or "")


def chosen(images: list[LocalImage], only: list[str], destination: Destination) -> list[LocalImage]:
    """Return the images to push, in order; `only` are patterns of tags.

    Raises ToolError for a pattern that matches none, or if several images would have one tag.
    """
    tags = [image.tag for image in images]
    if unmatched := [pattern for pattern in only if not fnmatch.filter(tags, pattern)]:
        raise ToolError(f"--only={unmatched[0]}: no such tag; expected one of {', '.join(tags)}, or a pattern")
    found = [image for image in images if not only or any(fnmatch.fnmatch(image.tag, pattern) for pattern in only)]
    if destination.tag and len(found) > 1:
        raise ToolError(
            f"{len(found)} images would have the tag {destination.tag}; expected one. Choose it by --only, one of "
            f"{', '.join(tags)}, or leave the tag out: then each image has its own"
        )
    return found
