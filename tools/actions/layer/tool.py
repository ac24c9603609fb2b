"""Makes the layer of a container image out of a wheel: the files that pip would have installed, and where.

    layer --label TARGET --wheel WHEEL --site-packages DIRECTORY --scripts DIRECTORY --python PATH
          --layer OUT --descriptor OUT
          [--any-wheel [--pattern GLOB]]
          [--devel [--beside WHEEL…] [--links-to WHEEL]]

With --devel, the wheel is a devel package's, and the layer has the links of its tree. With --links-to as well, the
layer has only the links that the tree gets when the package for a GPU target is installed.

The compressed bytes of the wheel are copied.
"""

import fnmatch
import posixpath
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from lib.common.program import (
    ToolError,
    argument_parser,
    report_errors,
    usable_cores,
)
from lib.deflate.inflater import InflateError
from lib.elf.cpus import CPUS
from tools.actions.layer.devel_tree import DevelTree
from tools.actions.layer.installed_wheel import InstalledFile, read_wheel
from tools.actions.layer.layer_file import write_layer
from tools.actions.layer.model import TAR_GZIP, InstallScheme, LayerDescriptor
from tools.actions.layer.wheel_members import Recompressor, own_members

#: The platform tag of a wheel, by its end -> the CPU as OCI calls it (Go's GOARCH).
ARCHITECTURES = {f"_{cpu.name}": cpu.go_name for cpu in CPUS}
ANY = "any"
#: Threads that deflate again what other programs deflated.
_THREADS = 2


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    wheel: str
    any_wheel: bool
    pattern: str
    site_packages: str
    scripts: str
    python: str
    devel: bool
    beside: list[str]
    links_to: str | None
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


def one_wheel(path: str, pattern: str) -> str:
    """Return the wheel; from a directory, the wheel that `pattern` matches. Raises ToolError unless it matches one."""
    top = Path(path)
    if not top.is_dir():
        return path
    wheels = {file.relative_to(top).as_posix(): str(file) for file in sorted(top.rglob("*.whl"))}
    found = fnmatch.filter(wheels, pattern)
    if len(found) != 1:
        raise ToolError(
            f"pattern {pattern!r} matches {len(found)} of the wheels {', '.join(wheels) or '(none)'}; expected one. "
            "Set `pattern` to match the wheel that the layer is for"
        )
    return wheels[found[0]]


def devel_files(args: Arguments, wheel: str, scheme: InstallScheme) -> list[InstalledFile]:
    """Return the files of the layer of a devel package, or of the one with links to a package by GPU target."""
    beside, target = (
        {file.path: file for one in wheels for file in read_wheel(one, scheme).files}
        for wheels in (args.beside, [args.links_to] if args.links_to else [])
    )
    tree = DevelTree(read_wheel(wheel, scheme), beside, target)
    return tree.links_layer() if args.links_to else tree.layer()


def make_layer(args: Arguments) -> None:
    """Write the layer and its descriptor."""
    wheel = one_wheel(args.wheel, args.pattern)
    name = posixpath.basename(wheel)
    scheme, architecture, history, recompressed = checked_scheme(args), architecture_of(name), name, 0
    with NamedTemporaryFile(dir=Path(args.layer).parent) as scratch:
        if args.devel:
            files = devel_files(args, wheel, scheme)
            history = f"{name}: links to {posixpath.basename(args.links_to)}" if args.links_to else name
        else:
            recompressor = Recompressor(scratch, usable_cores(_THREADS))
            read = recompressor.members if args.any_wheel else own_members
            files, recompressed = read_wheel(wheel, scheme, read).with_record(), recompressor.recompressed
        written = write_layer(files, args.layer)
    LayerDescriptor(
        media_type=TAR_GZIP,
        sha256=written.sha256,
        size=written.size,
        diff_id=written.diff_id,
        history=history,
        architecture=architecture,
        recompressed=recompressed,
    ).write(args.descriptor)


def make_sound_layer(args: Arguments) -> None:
    """Write the layer and its descriptor. Raises ToolError if the wheel is damaged."""
    try:
        make_layer(args)
    except InflateError as error:
        raise ToolError(f"{args.wheel}: damaged: {error}. Build the wheel again") from None


def main(argv: list[str]) -> int:
    """Parse the arguments and make the layer."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--wheel", required=True, help="wheel, or a directory of wheels")
    parser.add_argument("--any-wheel", action="store_true", help="another program may have compressed the wheel")
    parser.add_argument("--pattern", default="*", help="which wheel of the directory, by its path in it")
    parser.add_argument("--site-packages", required=True, help="directory of Python packages in the image")
    parser.add_argument("--scripts", required=True, help="directory of console scripts in the image")
    parser.add_argument("--python", required=True, help="interpreter in the image, which console scripts start")
    parser.add_argument(
        "--devel", action="store_true", help="the wheel is a devel package's: links of its tree are made"
    )
    parser.add_argument("--beside", action="append", default=[], help="wheel of a package that the tree links to")
    parser.add_argument("--links-to", help="wheel of a package for a GPU target: the layer has the links to it alone")
    parser.add_argument("--layer", required=True, help="layer to write")
    parser.add_argument("--descriptor", required=True, help="JSON file to write: digests and what is in the layer")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: make_sound_layer(args))
