"""Makes container images of layers: an OCI image layout, a directory that has each layer once, as it is."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import read_arguments, run_program
from lib.common.hard_link import link_or_copy
from lib.common.program import ToolError, read_document
from tools.actions.image.base import INDEX, Base, Blob, json_bytes, read_base
from tools.actions.image.image import Image, ImageDefinition, make_image
from tools.actions.layer.tool import read_layer_descriptor

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
        if blob.file:
            link_or_copy(blob.file, directory / blob.path)
        else:
            (directory / blob.path).write_bytes(blob.data)


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    image: list[str]  #: Files with the lines of `Parts`, one for each image.
    layout: str  #: Directory to write.


@dataclass(frozen=True)
class Parts:
    """Files of an image."""

    definition: str  #: What the BUILD file says about the image.
    base: str | None  #: OCI image layout, or the tar of a root file system.
    layer: list[str]  #: From the lowest to the highest.
    descriptor: list[str]  #: Of the layers, in their order.
    sbom: list[str]  #: Bills of materials to attach, in CycloneDX.


def read_image(parts: Parts) -> Image:
    """Return an image. Raises ToolError for what fits none."""
    definition = ImageDefinition(**read_document(parts.definition))
    base = _read_base(parts.base, definition.architecture) if parts.base else Base()
    layers = [
        (read_layer_descriptor(descriptor), layer)
        for descriptor, layer in zip(parts.descriptor, parts.layer, strict=True)
    ]
    return make_image(definition, base, layers, parts.sbom)


def write(args: Arguments) -> None:
    """Write the images."""
    write_layout([read_image(read_arguments(Parts, [f"@{path}"])) for path in args.image], Path(args.layout))


def main(argv: list[str]) -> int:
    """Write the images."""
    return run_program(Arguments, argv, write)
