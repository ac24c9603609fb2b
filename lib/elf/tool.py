"""Shows what ELF programs and libraries say about themselves, and edits their search path.

For people; the build calls the library directly. An interrupted or failed run leaves no half-written file: the result
is written beside the output, and renamed when it is complete.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence

from lib.elf import constants as c
from lib.elf.editor import plan_patch
from lib.elf.model import ElfFile, refusal
from lib.elf.patch import Patch
from lib.elf.patched import write_patched
from lib.elf.reader import read_elf
from lib.elf.search_path import SearchPath
from lib.elf.source import ElfError

EPILOG = """examples:
  elf show lib/libamdhip64.so
  elf set-rpath lib/libfoo.so --output /tmp/libfoo.so '$ORIGIN' '$ORIGIN/../llvm/lib'
  elf set-rpath lib/libfoo.so --output /tmp/libfoo.so --extend '$ORIGIN/../../other_package/lib'

A search path (RPATH) is where the dynamic loader looks for the libraries that a file needs. $ORIGIN stands for the
directory that the file itself is in: quote it, or the shell replaces it. DT_RPATH is searched before LD_LIBRARY_PATH,
also for libraries that this file loads; DT_RUNPATH is searched after LD_LIBRARY_PATH, for this file only.

Only headers and string tables change; set-rpath prints which bytes. It accepts 64-bit little-endian programs and
libraries for x86_64 or aarch64 with a dynamic section, and gives the reason if it refuses a file."""

MACHINES = {c.EM_X86_64: "x86_64", c.EM_AARCH64: "aarch64", c.EM_AMDGPU: "AMD GPU"}
TYPES = {c.ET_REL: "relocatable file", c.ET_EXEC: "program", c.ET_DYN: "shared library", c.ET_CORE: "core dump"}


def describe(elf: ElfFile) -> Iterator[str]:
    """Yield the lines that tell a person about a file."""
    kind = "program (PIE)" if elf.type == c.ET_DYN and elf.is_program else TYPES.get(elf.type, f"e_type {elf.type}")
    order = "little" if elf.little_endian else "big"
    machine = MACHINES.get(elf.machine, f"machine {elf.machine}")
    yield f"{elf.path}: {elf.elf_class}-bit {order}-endian {machine} {kind}, {elf.size} bytes"
    for name, value in (("SONAME", elf.soname), ("interpreter", elf.interpreter), ("build ID", elf.build_id)):
        if value is not None:
            yield f"  {name}: {value}"
    for name, path in (("RPATH", elf.rpath), ("RUNPATH", elf.runpath)):
        if path is not None:
            yield f"  {name}:"
            yield from (f"    {entry or '(empty: the current directory)'}" for entry in path.split(":"))
    for library in elf.needed:
        versions = ", ".join(sorted(elf.versions_needed.get(library, ())))
        yield f"  needs {library}" + (f" ({versions})" if versions else "")
    if elf.program_headers:
        spare = f"; {elf.dynamic_spare} spare dynamic entries" if elf.has_dynamic else ""
        yield f"  {'stripped' if elf.is_stripped else 'with a symbol table'}; {len(elf.loads)} loaded segments{spare}"
    reason = refusal(elf)
    yield "  can be edited" if reason is None else f"  cannot be edited: {reason}"


def report(patch: Patch, elf: ElfFile) -> Iterator[str]:
    """Yield the lines that tell a person what an edit does."""
    yield f"{patch.path}: {patch.strategy.value}, {elf.size} -> {patch.size} bytes"
    yield from (f"  changed: {changed.size} bytes at {changed.offset:#x}" for changed in patch.ranges_changed)
    yield from (f"  note: {note}" for note in patch.notes)


def show(paths: Sequence[str]) -> None:
    """Print what each file says about itself. Raises ElfError or OSError at the first that cannot be read."""
    for path in paths:
        with open(path, "rb") as file:
            print("\n".join(describe(read_elf(file, path))))


def set_rpath(path: str, output: str, entries: Sequence[str], *, extend: bool = False, runpath: bool = False) -> Patch:
    """Write a copy of `path` with another search path to `output` (it may be the same file), keeping the mode.

    Raises ValueError for malformed entries, ElfError for a file that cannot be edited, OSError as the system does.
    """
    wanted = SearchPath(tuple(entries), c.DT_RUNPATH if runpath else c.DT_RPATH, extend)
    with open(path, "rb") as file:
        elf = read_elf(file, path)
        patch = plan_patch(elf, file, wanted)
        write_patched(patch, file, output)
    print("\n".join(report(patch, elf)))
    return patch


def parser() -> argparse.ArgumentParser:
    """Make the command line parser."""
    result = argparse.ArgumentParser(
        prog="elf", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = result.add_subparsers(dest="command", required=True)
    command = commands.add_parser("show", help="print what files say about themselves")
    command.add_argument("files", metavar="FILE", nargs="+")
    command = commands.add_parser("set-rpath", help="write a copy of a file with another search path")
    command.add_argument("file", metavar="FILE", help="the program or library to read")
    command.add_argument("--output", metavar="OUT", required=True, help="the file to write; it may be FILE itself")
    command.add_argument("--extend", action="store_true", help="keep the present entries, and add these behind them")
    command.add_argument("--runpath", action="store_true", help="write DT_RUNPATH instead of DT_RPATH")
    command.add_argument("entries", metavar="ENTRY", nargs="+", help="a directory to search, such as '$ORIGIN/../lib'")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = parser().parse_args(argv)
    try:
        if arguments.command == "show":
            show(arguments.files)
        else:
            set_rpath(
                arguments.file,
                arguments.output,
                arguments.entries,
                extend=arguments.extend,
                runpath=arguments.runpath,
            )
    except (ElfError, OSError, ValueError) as error:
        print(f"elf: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))  # Where `bazel run` was typed.
    sys.exit(main())
