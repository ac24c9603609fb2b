"""Makes a container image of layers: an OCI image layout as a directory, or as a tar that engines load.

    image --label TARGET --definition JSON [--base PATH] [--layer FILE --descriptor JSON]… [--sbom JSON]…
          (--layout OUT | --archive OUT)

Layers are linked or copied as they are.
"""

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.actions.image.base import Base, read_base
from tools.actions.image.blobs import Blob
from tools.actions.image.image import Image, ImageDefinition, make_image
from tools.actions.layer.model import read_layer_descriptor
from tools.lib.common.archive_time import archive_time
from tools.lib.common.hard_link import link_or_copy
from tools.lib.common.program import argument_parser, read_document, report_errors
from tools.lib.wheel.output_file import Output


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    definition: str
    base: str | None
    layer: list[str]
    descriptor: list[str]
    sbom: list[str]
    layout: str | None
    archive: str | None


def write_layout(image: Image, directory: Path) -> None:
    """Write an OCI image layout; blobs that are files are linked to if possible."""
    (directory / "blobs/sha256").mkdir(parents=True, exist_ok=True)
    for path, data in image.files.items():
        (directory / path).write_bytes(data)
    for blob in image.blobs:
        if blob.file and not blob.offset and Path(blob.file).stat().st_size == blob.size:
            link_or_copy(blob.file, directory / blob.path)
        else:
            with (directory / blob.path).open("wb") as file, Output(file) as output:
                blob.write_to(output)


def _header(path: str, type_: bytes, size: int, mode: int) -> bytes:
    member = tarfile.TarInfo(path)
    member.type, member.size, member.mode, member.mtime = type_, size, mode, archive_time()
    return member.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def _members(image: Image) -> Iterator[tuple[str, Blob]]:
    for path, data in sorted(image.files.items()):
        yield path, Blob("", "", len(data), data=data)
    for blob in image.blobs:
        yield blob.path, blob


def write_archive(image: Image, path: Path) -> None:
    """Write the same as a tar, which `docker load`, `podman load` and `ctr images import` read."""
    with path.open("wb") as file, Output(file) as output:
        for directory in ("blobs", "blobs/sha256"):
            output.write(_header(directory, tarfile.DIRTYPE, 0, 0o755))
        for name, blob in _members(image):
            output.write(_header(name, tarfile.REGTYPE, blob.size, 0o644))
            blob.write_to(output)
            output.write(bytes(-blob.size % tarfile.BLOCKSIZE))
        output.write(bytes(2 * tarfile.BLOCKSIZE))


def write(args: Arguments) -> None:
    """Write the image."""
    definition = ImageDefinition(**read_document(args.definition))
    base = read_base(args.base, definition.architecture) if args.base else Base()
    layers = [
        (read_layer_descriptor(descriptor), layer)
        for descriptor, layer in zip(args.descriptor, args.layer, strict=True)
    ]
    image = make_image(definition, base, layers, args.sbom)
    if args.layout:
        write_layout(image, Path(args.layout))
    if args.archive:
        write_archive(image, Path(args.archive))


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--definition", required=True, help="JSON file: what the BUILD file says about the image")
    parser.add_argument("--base", help="OCI image layout, as a directory or a tar, or the tar of a root file system")
    parser.add_argument("--layer", action="append", default=[], help="layer, from the lowest to the highest")
    parser.add_argument("--descriptor", action="append", default=[], help="descriptor of a layer, in the same order")
    parser.add_argument("--sbom", action="append", default=[], help="bill of materials to attach, in CycloneDX")
    output = parser.add_mutually_exclusive_group(required=True)
    output.add_argument("--layout", help="directory to write")
    output.add_argument("--archive", help="tar to write")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: write(args))
