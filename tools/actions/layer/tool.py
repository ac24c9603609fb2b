"""Makes the layer of a container image out of a wheel: the files that pip would have installed, and where.

The compressed bytes of the wheel are copied.
"""

import fnmatch
import posixpath
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from lib.common.arguments import run_program
from lib.common.program import ToolError, usable_cores
from lib.deflate.library import InflateError
from lib.elf.platforms import CPUS
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
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str
    wheel: str  #: A wheel, or a directory of wheels.
    any_wheel: bool  #: Whether another program may have compressed the wheel.
    site_packages: str  #: Directory of Python packages in the image.
    scripts: str  #: Directory of console scripts in the image.
    python: str  #: Interpreter in the image, which console scripts start.
    devel: bool  #: Whether the wheel is a devel package's: the layer has the links of its tree.
    beside: list[str]  #: Wheels of packages that the tree links to.
    #: Wheel of a package for a GPU target: the layer has the links that the tree gets when that is installed, alone.
    links_to: str | None
    layer: str  #: Layer to write.
    descriptor: str  #: JSON file to write: digests and what is in the layer.
    pattern: str = "*"  #: Which wheel of the directory, by its path in it.


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
    """Make the layer."""
    return run_program(Arguments, argv, make_sound_layer)
