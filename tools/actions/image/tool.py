"""Makes container images of layers: an OCI image layout as a directory, or as a tar that engines load.

    image --label TARGET --image FILE… (--layout OUT | --archive OUT)

Each FILE says what an image is made of, one argument a line:

    --definition=JSON [--base=PATH] [--layer=FILE --descriptor=JSON]… [--sbom=JSON]…

Layers are linked or copied as they are, each once. Bills of materials are in the layout alone: engines take no others
than images.
"""

import argparse
import functools
from dataclasses import dataclass
from pathlib import Path

from lib.common.program import argument_parser, read_document, report_errors
from tools.actions.image.base import Base, read_base
from tools.actions.image.image import Image, ImageDefinition, make_image
from tools.actions.image.layout import write_archive, write_layout
from tools.actions.layer.model import read_layer_descriptor

#: Images of one layout mostly have one base, which is digested once.
_read_base = functools.cache(read_base)


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    image: list[str]
    layout: str | None
    archive: str | None


@dataclass(frozen=True)
class Parts:
    """What an image is made of: files."""

    definition: str
    base: str | None
    layer: list[str]
    descriptor: list[str]
    sbom: list[str]


def read_parts(path: str) -> Parts:
    """Read a file of `--image`."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--definition", required=True, help="JSON file: what the BUILD file says about the image")
    parser.add_argument("--base", help="OCI image layout, as a directory or a tar, or the tar of a root file system")
    parser.add_argument("--layer", action="append", default=[], help="layer, from the lowest to the highest")
    parser.add_argument("--descriptor", action="append", default=[], help="descriptor of a layer, in the same order")
    parser.add_argument("--sbom", action="append", default=[], help="bill of materials to attach, in CycloneDX")
    return Parts(**vars(parser.parse_args(Path(path).read_text(encoding="utf-8").splitlines())))


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
    images = [read_image(read_parts(path), with_sboms=bool(args.layout)) for path in args.image]
    if args.layout:
        write_layout(images, Path(args.layout))
    if args.archive:
        write_archive(images, Path(args.archive))


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--image", action="append", required=True, metavar="FILE", help="what an image is made of")
    output = parser.add_mutually_exclusive_group(required=True)
    output.add_argument("--layout", help="directory to write")
    output.add_argument("--archive", help="tar to write")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: write(args))
