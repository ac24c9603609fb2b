"""Makes container images of layers: an OCI image layout as a directory, or as a tar that engines load.

Layers are linked or copied as they are, each once. Bills of materials are in the layout alone: engines take no others
than images.
"""

import functools
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import read_arguments, run_program
from lib.common.program import read_document
from tools.actions.image.base import Base, read_base
from tools.actions.image.image import Image, ImageDefinition, make_image
from tools.actions.image.layout import write_archive, write_layout
from tools.actions.layer.model import read_layer_descriptor

#: Images of one layout mostly have one base, which is digested once.
_read_base = functools.cache(read_base)


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
