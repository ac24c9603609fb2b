"""Makes a tar archive of programs and what they need on another machine.

    tool --label LABEL --output TAR --needed FILE --sdk PREFIX --workspace NAME [--directory DIRECTORY]
         [--rpath DIRECTORY...] --program FILE... [--runfile PROGRAM<tab>SHORT_PATH<tab>PATH...]

Programs are in `bin`, libraries in `lib`, and files of the SDK where they are in its install prefix. With `--rpath`,
the archive has no file of the SDK: the machine has it in these directories. What this build linked looks for libraries
in the archive alone, and in these directories: no search path names a directory of the build.

`--needed` gets the libraries that the machine must have: one a line, with the first file that needs it.
"""

import posixpath
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from hip.tools.tar.layout import Member, Runfile, left_to_machine, members, search_path
from lib.common.archive_time import archive_time
from lib.common.program import ToolError, argument_parser, report_errors
from lib.elf.editor import plan_patch
from lib.elf.patched import open_patched
from lib.elf.search_path import SearchPath
from lib.elf.source import ElfError

#: Modes of what can be executed, and of what cannot.
PROGRAM, FILE = 0o755, 0o644


def _added(tar: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    """Add a file as every machine would add it."""
    head = content.read(4)
    content.seek(0)
    info = tarfile.TarInfo(name)
    info.size, info.mtime = size, archive_time()
    info.mode = PROGRAM if head.startswith((b"\x7fELF", b"#!")) else FILE
    tar.addfile(info, content)


def write_tar(output: Path, directory: str, found: Sequence[Member], rpath: Sequence[str]) -> None:
    """Write the archive. Raises ElfError for a program or library that cannot get a search path."""
    with tarfile.open(output, "w", format=tarfile.PAX_FORMAT) as tar:
        for member in found:
            name = posixpath.join(directory, member.place)
            with Path(member.path).open("rb") as file:
                if member.elf is None or not member.is_linked_here:
                    _added(tar, name, file, Path(member.path).stat().st_size)
                    continue
                patch = plan_patch(member.elf, file, SearchPath(search_path(member, found, rpath)))
                _added(tar, name, open_patched(patch, file), patch.size)


def checked_directory(directory: str) -> str:
    """Return the directory in the archive. Raises ToolError if it leads out of the archive."""
    if directory and (directory != posixpath.normpath(directory) or directory.startswith(("/", ".."))):
        raise ToolError(
            f"directory is {directory!r}; expected a relative one such as opt/acme, without `/` at its ends and "
            "without `..`"
        )
    return directory


def main(argv: list[str]) -> int:
    """Run the tool; return the exit status."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="target, for errors")
    parser.add_argument("--output", type=Path, required=True, help="the archive")
    parser.add_argument("--needed", type=Path, required=True, help="list of the libraries that the archive lacks")
    parser.add_argument("--sdk", required=True, help="the SDK's install prefix in runfiles")
    parser.add_argument("--workspace", required=True, help="name of the main repository in runfiles")
    parser.add_argument("--directory", default="", help="directory in the archive")
    parser.add_argument("--rpath", action="append", default=[], help="directory in which the machine has the SDK")
    parser.add_argument("--program", action="append", required=True, help="a program, or a shared library")
    parser.add_argument("--runfile", action="append", default=[], help="what a program needs when it runs")
    args = parser.parse_args(argv)

    def work() -> None:
        files = [Runfile(*line.split("\t")) for line in args.runfile]
        directory = checked_directory(args.directory)
        try:
            found = members(args.program, files, sdk=args.sdk, workspace=args.workspace, is_bundled=not args.rpath)
            write_tar(args.output, directory, found, args.rpath)
        except (ElfError, ValueError) as error:
            raise ToolError(str(error)) from None
        lines = [f"{name} {place}\n" for name, place in left_to_machine(found).items()]
        args.needed.write_text("".join(lines), encoding="utf-8")

    return report_errors(args.label, work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
