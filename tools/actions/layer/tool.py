"""Makes the layer of a container image out of a wheel: the files that pip would have installed, and where.

    layer --label TARGET --wheel WHEEL --site-packages DIRECTORY --scripts DIRECTORY --python PATH
          --format gzip|estargz --layer OUT --descriptor OUT

The compressed bytes of the wheel are copied; they are inflated once, because a layer's diffID is the digest of the
inflated archive.
"""

import posixpath
from dataclasses import dataclass

from tools.actions.layer.estargz import estargz_layer
from tools.actions.layer.installed_wheel import installed_files
from tools.actions.layer.layer_file import gzip_layer, write_layer
from tools.actions.layer.model import TAR_GZIP, InstallScheme, LayerDescriptor
from tools.lib.common.program import ToolError, argument_parser, report_errors
from tools.lib.deflate.inflater import InflateError
from tools.lib.wheel.deflated_run import inflated_sha256

#: The platform tag of a wheel, by its end -> the CPU as OCI calls it (Go's GOARCH).
ARCHITECTURES = {"_x86_64": "amd64", "_aarch64": "arm64"}
ANY = "any"
#: What a format makes of files: --format.
FORMATS = {"estargz": estargz_layer, "gzip": gzip_layer}


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    wheel: str
    site_packages: str
    scripts: str
    python: str
    format: str
    layer: str
    descriptor: str


def architecture_of(wheel: str) -> str:
    """Return the CPU that a wheel is for, by its name; empty if it is for all. Raises ToolError for another system."""
    tag = wheel.removesuffix(".whl").rpartition("-")[2]
    found = [architecture for end, architecture in ARCHITECTURES.items() if tag.endswith(end)]
    if tag != ANY and (not found or "linux" not in tag):
        raise ToolError(
            f"{wheel}: its platform tag is {tag}; expected one of Linux that ends in {' or '.join(ARCHITECTURES)}, or "
            f"`{ANY}`. Name another wheel"
        )
    return found[0] if found else ""


def checked_scheme(args: Arguments) -> InstallScheme:
    """Return where the files go; raises ToolError for a directory that leads out of the image."""
    for name, directory in (("site_packages", args.site_packages), ("scripts", args.scripts)):
        if directory != posixpath.normpath(directory) or directory.startswith(("/", "..")) or directory == ".":
            raise ToolError(
                f"{name} is {directory!r}; expected a directory in the image such as usr/local/bin, without `/` at its "
                "ends and without `..`"
            )
    if not args.python.startswith("/"):
        raise ToolError(f"python is {args.python!r}; expected an absolute path in the image, such as /usr/bin/python3")
    return InstallScheme(args.site_packages, args.scripts, args.python)


def make_layer(args: Arguments) -> None:
    """Write the layer and its descriptor."""
    name = posixpath.basename(args.wheel)
    scheme, architecture = checked_scheme(args), architecture_of(name)
    try:
        layer = FORMATS[args.format](installed_files(args.wheel, scheme))
        diff_id = inflated_sha256(layer.archive)
    except InflateError as error:
        raise ToolError(f"{args.wheel}: damaged: {error}. Build the wheel again") from None
    written = write_layer(layer, args.layer)
    LayerDescriptor(TAR_GZIP, written.sha256, written.size, diff_id, name, architecture, dict(layer.annotations)).write(
        args.descriptor
    )


def main(argv: list[str]) -> int:
    """Parse the arguments and make the layer."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--wheel", required=True, help="wheel that these rules made")
    parser.add_argument("--site-packages", required=True, help="directory of Python packages in the image")
    parser.add_argument("--scripts", required=True, help="directory of console scripts in the image")
    parser.add_argument("--python", required=True, help="interpreter in the image, which console scripts start")
    parser.add_argument("--format", required=True, choices=FORMATS, help="how the layer is laid out")
    parser.add_argument("--layer", required=True, help="layer to write")
    parser.add_argument("--descriptor", required=True, help="JSON file to write: digests and what is in the layer")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: make_layer(args))
