"""Makes the layer of a container image out of a wheel: the files that pip would have installed, and where.

The compressed bytes of the wheel are copied.
"""

import posixpath
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lib.common.arguments import run_program
from lib.common.program import ToolError, directories_above
from lib.deflate.library import FINAL_BLOCK, InflateError
from lib.elf.platforms import CPUS
from lib.wheel.deflated_run import GZIP_HEADER, Joined, Run, end_run, header_run, inflated_sha256, join, padding_run
from tools.actions.layer.devel_tree import DevelTree
from tools.actions.layer.installed_wheel import InstalledFile, InstallScheme, read_wheel

# Writes a layer: a tar archive in one gzip member (RFC 1952) that is joined from runs. Nothing is compressed again.
#
# What is written is inflated in the same pass, so that no layer of a damaged wheel is made.
#
# The archive is in GNU format, which dpkg, tar and every container engine read. The framing never changes: an engine
# knows a layer by its inflated bytes, and would keep the compressed bytes that it has.


def archive_runs(files: Iterable[InstalledFile]) -> Iterator[Run]:
    """Yield the runs of the archive, without padding at the end: each directory before what is in it, all sorted."""
    by_path = {file.path: file for file in files}
    directories = {parent for path in by_path for parent in directories_above(path)}
    directories |= {path for path, file in by_path.items() if file.type == tarfile.DIRTYPE}
    for path in sorted(by_path.keys() | directories):
        if path in directories:
            yield header_run(path, 0o755, tarfile.DIRTYPE, is_gnu=True)
        else:
            file = by_path[path]
            yield header_run(path, file.mode, file.type, file.run.size, file.link, is_gnu=True)
            yield file.run
            yield padding_run(file.run.size)
    yield end_run()


def write_layer(files: Iterable[InstalledFile], path: str) -> None:
    """Write the file, and read what was written. Raises InflateError if a run is damaged."""
    archive = join(archive_runs(files))
    with Path(path).open("wb") as file:
        inflated_sha256(archive, _written(archive, file))


def _written(archive: Joined, output: BinaryIO) -> Iterator[bytes]:
    """Write the file, and yield of what is written the stream that inflates to the archive."""
    output.write(GZIP_HEADER)
    for run in archive.runs:
        for chunk in run.chunks():
            output.write(chunk)
            yield chunk
    output.write(FINAL_BLOCK + archive.gzip_trailer())
    yield FINAL_BLOCK


#: What platform tags of Linux end with.
CPU_ENDS = tuple(f"_{cpu.name}" for cpu in CPUS)


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    wheel: str
    site_packages: str  #: Directory of Python packages in the image.
    scripts: str  #: Directory of console scripts in the image.
    python: str  #: Interpreter in the image, which console scripts start.
    devel: bool  #: Whether the wheel is a devel package's: the layer has the links of its tree.
    beside: list[str]  #: Wheels of packages that the tree links to.
    #: Wheel of a package for a GPU target: the layer has the links that the tree gets when that is installed, alone.
    links_to: str | None
    layer: str  #: Layer to write.


def check_platform(wheel: str) -> None:
    """Raise ToolError for a wheel that, by its name, is for another system than Linux."""
    tag = wheel.removesuffix(".whl").rpartition("-")[2]
    if tag != "any" and not ("linux" in tag and tag.endswith(CPU_ENDS)):
        raise ToolError(
            f"{wheel}: its platform tag is {tag}; expected one of Linux that ends in {' or '.join(CPU_ENDS)}, or "
            "`any`. Name another wheel"
        )


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


def devel_files(args: Arguments, scheme: InstallScheme) -> list[InstalledFile]:
    """Return the files of the layer of a devel package, or of the one with links to a package by GPU target."""
    beside, target = (
        {file.path: file for one in wheels for file in read_wheel(one, scheme).files}
        for wheels in (args.beside, [args.links_to] if args.links_to else [])
    )
    tree = DevelTree(read_wheel(args.wheel, scheme), beside, target)
    return tree.links_layer() if args.links_to else tree.layer()


def make_layer(args: Arguments) -> None:
    """Write the layer. Raises ToolError if the wheel is damaged."""
    scheme = checked_scheme(args)
    check_platform(posixpath.basename(args.wheel))
    try:
        write_layer(
            devel_files(args, scheme) if args.devel else read_wheel(args.wheel, scheme).with_record(), args.layer
        )
    except InflateError as error:
        raise ToolError(f"{args.wheel}: damaged: {error}. Build the wheel again") from None


def main(argv: list[str]) -> int:
    """Make the layer."""
    return run_program(Arguments, argv, make_layer)
