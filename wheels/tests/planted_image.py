"""An image of the planted set for one GPU, whose layers can be changed before it is written.

image = PlantedImage(edited, tmp_path)
image.layers["rocm_sdk_core"].files["usr/lib/…"].mode |= 0o4000
image.save()
"""

import gzip
import hashlib
import io
import json
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

from tools.actions.image.base import Base
from tools.actions.image.image import ImageDefinition, make_image
from tools.actions.image.layout import write_archive, write_layout
from tools.actions.layer.model import TAR_GZIP, LayerDescriptor
from tools.actions.layer.tool import main
from wheels.tests.editing import EditedSet

SITE = "usr/lib/python3/dist-packages"
TARGET = "gfx942"
#: The distributions of the image, from the lowest layer to the highest.
PACKAGES = ("rocm_sdk_core", "rocm_sdk_libraries", f"rocm_sdk_device_{TARGET}", "rocm")


@dataclass
class PlantedLayer:
    """A layer: what its history says, and its members with their bytes, by path."""

    history: str
    files: dict[str, tuple[tarfile.TarInfo, bytes]] = field(default_factory=dict)

    def add(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Add a file."""
        info = tarfile.TarInfo(path)
        info.size, info.mode = len(data), mode
        self.files[path] = info, data

    def data(self) -> bytes:
        """Return the archive."""
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for info, data in self.files.values():
                archive.addfile(info, io.BytesIO(data))
        return target.getvalue()


class PlantedImage:
    """An image that is not written yet."""

    def __init__(self, edited: EditedSet, directory: Path) -> None:
        """Make the layers of the wheels of a set, by the program of the action `RocmLayer`."""
        self.directory = directory
        wheels = edited.save()
        self.layers = {package: self._layer(wheels, package) for package in PACKAGES}

    def _layer(self, wheels: Path, package: str) -> PlantedLayer:
        (wheel,) = wheels.glob(f"{package}-*.whl")
        layer, descriptor = self.directory / f"{package}.tar.gz", self.directory / f"{package}.json"
        arguments = [f"--label=//:{package}", f"--wheel={wheel}", f"--layer={layer}", f"--descriptor={descriptor}"]
        arguments += [f"--site-packages={SITE}", "--scripts=usr/local/bin", "--python=/usr/bin/python3", "--any-wheel"]
        assert main(arguments) == 0
        planted = PlantedLayer(json.loads(descriptor.read_text())["history"])
        with tarfile.open(layer) as archive:
            for info in archive:
                file = archive.extractfile(info) if info.isreg() else None
                planted.files[info.name] = info, file.read() if file else b""
        return planted

    def save(self, *, as_archive: bool = False) -> Path:
        """Write the image, as a layout or a tar; return its path."""
        layers = []
        for name, layer in self.layers.items():
            data = layer.data()
            packed = gzip.compress(data, mtime=0)
            path = self.directory / f"{name}.layer"
            path.write_bytes(packed)
            digests = [hashlib.sha256(one).hexdigest() for one in (packed, data)]
            layers.append((LayerDescriptor(TAR_GZIP, digests[0], len(packed), digests[1], layer.history), str(path)))
        image = make_image(ImageDefinition("localhost/rocm:1", "amd64"), Base(), layers)
        place = self.directory / ("image.tar" if as_archive else "image")
        if as_archive:
            write_archive([image], place)
        else:
            write_layout([image], place)
        return place
