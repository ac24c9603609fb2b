"""Makes container images of layers: an OCI image layout as a directory, or as a tar that engines load.

Layers are linked or copied as they are, each once. Bills of materials are in the layout alone: engines take no others
than images.
"""

import functools
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.archive_time import archive_time
from lib.common.arguments import read_arguments, run_program
from lib.common.hard_link import link_or_copy
from lib.common.program import ToolError, read_document
from lib.wheel.output_file import Output
from tools.actions.image.base import Base, read_base
from tools.actions.image.blobs import INDEX, Blob, json_bytes
from tools.actions.image.image import Image, ImageDefinition, make_image
from tools.actions.layer.model import read_layer_descriptor

#: Images of one layout mostly have one base, which is digested once.
_read_base = functools.cache(read_base)


def _files(images: Sequence[Image]) -> dict[str, bytes]:
    """Return the small files beside the blobs, {path: bytes}. Raises ToolError for two images of one name."""
    names = [image.reference for image in images]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ToolError(f"{twice[0]}: two images have this reference; expected one. Give one of them another tag")
    entries = [entry for image in images for entry in image.entries]
    return {
        "oci-layout": json_bytes({"imageLayoutVersion": "1.0.0"}),
        "index.json": json_bytes({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}),
        "manifest.json": json_bytes([image.loaded for image in images]),
    }


def _blobs(images: Sequence[Image]) -> list[Blob]:
    """Return the blobs of all images, each once, in the order of their paths."""
    by_path = {blob.path: blob for image in images for blob in image.blobs}
    return [by_path[path] for path in sorted(by_path)]


def write_layout(images: Sequence[Image], directory: Path) -> None:
    """Write a directory, with links to the files of blobs if possible. Raises ToolError for two images of one name."""
    files = _files(images)
    (directory / "blobs/sha256").mkdir(parents=True, exist_ok=True)
    for path, data in files.items():
        (directory / path).write_bytes(data)
    for blob in _blobs(images):
        if blob.file and not blob.offset and Path(blob.file).stat().st_size == blob.size:
            link_or_copy(blob.file, directory / blob.path)
        else:
            with (directory / blob.path).open("wb") as file, Output(file) as output:
                blob.write_to(output)


def _header(path: str, type_: bytes, size: int, mode: int) -> bytes:
    member = tarfile.TarInfo(path)
    member.type, member.size, member.mode, member.mtime = type_, size, mode, archive_time()
    return member.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def _members(images: Sequence[Image]) -> Iterator[tuple[str, Blob]]:
    for path, data in sorted(_files(images).items()):
        yield path, Blob("", "", len(data), data=data)
    for blob in _blobs(images):
        yield blob.path, blob


def write_archive(images: Sequence[Image], path: Path) -> None:
    """Write the same as a tar, which `docker load`, `podman load` and `ctr images import` read.

    Raises ToolError for two images of one name, before anything is written.
    """
    members = list(_members(images))
    with path.open("wb") as file, Output(file) as output:
        for directory in ("blobs", "blobs/sha256"):
            output.write(_header(directory, tarfile.DIRTYPE, 0, 0o755))
        for name, blob in members:
            output.write(_header(name, tarfile.REGTYPE, blob.size, 0o644))
            blob.write_to(output)
            output.write(bytes(-blob.size % tarfile.BLOCKSIZE))
        output.write(bytes(2 * tarfile.BLOCKSIZE))


@dataclass(frozen=True)
class Arguments:
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str
    image: list[str]  #: Files with the lines of `Parts`, one for each image.
    layout: str | None  #: Directory to write.
    archive: str | None  #: Tar to write.


@dataclass(frozen=True)
class Parts:
    """What an image is made of: files."""

    definition: str  #: What the BUILD file says about the image.
    base: str | None  #: OCI image layout, as a directory or a tar, or the tar of a root file system.
    layer: list[str]  #: From the lowest to the highest.
    descriptor: list[str]  #: Of the layers, in their order.
    sbom: list[str]  #: Bills of materials to attach, in CycloneDX.


def read_image(parts: Parts, *, with_sboms: bool) -> Image:
    """Return an image. Raises ToolError for what fits none."""
    definition = ImageDefinition(**read_document(parts.definition))
    base = _read_base(parts.base, definition.architecture) if parts.base else Base()
    layers = [
        (read_layer_descriptor(descriptor), layer)
        for descriptor, layer in zip(parts.descriptor, parts.layer, strict=True)
    ]
    return make_image(definition, base, layers, parts.sbom if with_sboms else ())


def write(args: Arguments) -> None:
    """Write the images."""
    images = [read_image(read_arguments(Parts, [f"@{path}"]), with_sboms=bool(args.layout)) for path in args.image]
    if args.layout:
        write_layout(images, Path(args.layout))
    if args.archive:
        write_archive(images, Path(args.archive))


def main(argv: list[str]) -> int:
    """Write the images."""
    return run_program(Arguments, argv, write)
