"""The layers of images of the mini SDK, as tests read them."""

import os
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from environment import DIST

SITE, SCRIPTS, PYTHON = "usr/lib/python3/dist-packages", "usr/local/bin", "/usr/bin/python3"
_VARIABLE, _END = "LAYERS_", "_layer.tar.gz"


@dataclass(frozen=True)
class Image:
    """What an image consists of: the GPU target or family that it is for, and its layers, the lowest first."""

    target: str
    layers: Sequence[Path]

    @property
    def packages(self) -> list[str]:
        """The packages whose files the layers have, as targets of the build are called."""
        return [path.name.removesuffix(_END) for path in self.layers if not path.name.startswith("devel_links_")]


def _ordered(paths: str) -> list[Path]:
    """Return layers in order: devel above the others, and its links to the package for the target on top."""
    found = [Path(path).absolute() for path in paths.split()]
    return sorted(found, key=lambda path: (path.name.startswith("devel"), path.name.startswith("devel_links_"), path))


DEVEL = [
    Image(name.removeprefix(_VARIABLE), _ordered(paths))
    for name, paths in sorted(os.environ.items())
    if name.startswith(_VARIABLE)
]
#: Without devel, and without its links.
RUNTIME = [Image(image.target, image.layers[:-2]) for image in DEVEL]


def wheels_of(image: Image) -> list[Path]:
    """Return the wheels whose files an image has."""
    return [_wheel(name) for name in image.packages]


def _wheel(package: str) -> Path:
    start = "static/rocm-" if package == "rocm" else f"rocm_sdk_{package.replace('-', '_')}-"
    (found,) = DIST.glob(f"{start}*.whl")
    return found


def unpacked(image: Image, directory: Path) -> Path:
    """Unpack the layers of an image, one over the other; return the directory."""
    for path in image.layers:
        with tarfile.open(path) as layer:
            layer.extractall(directory, filter="tar")
    return directory
