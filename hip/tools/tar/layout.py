"""What lies where in an archive of programs: programs, their libraries, what they need of the SDK, and data."""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lib.common.program import ToolError
from lib.elf.model import ElfFile, refusal
from lib.elf.reader import is_elf, read_elf

PROGRAMS: Final = "bin"
LIBRARIES: Final = "lib"
#: How Bazel's directory of links to shared libraries begins.
SOLIB: Final = "_solib_"


@dataclass(frozen=True)
class Runfile:
    """A file that a program needs when it runs."""

    #: The name of the program.
    program: str
    #: The file's path in Bazel, relative to the runfiles of the main repository.
    short_path: str
    path: str

    @property
    def name(self) -> str:
        """The last part of its path."""
        return posixpath.basename(self.short_path)

    def below(self, directory: str) -> str:
        """Return the path in a directory of runfiles, empty if the file is not in it, nor a link to such a file is.

        Bazel's directory of shared libraries has a link to a library of the SDK at the place that the library has.
        """
        path = self.short_path
        if path.startswith(SOLIB):
            path, directory = path.partition("/")[2], directory.removeprefix("../")
        return path.removeprefix(f"{directory}/") if path.startswith(f"{directory}/") else ""


@dataclass(frozen=True)
class Member:
    """A file in the archive."""

    place: str
    path: str
    #: What it says of itself, if it is an ELF file.
    elf: ElfFile | None
    #: Whether it was linked by this build, so that its search path is one of the build.
    is_linked_here: bool = False


def read_member(place: str, path: str, *, is_linked_here: bool = False) -> Member:
    """Read what a file says of itself. Raises ElfError if it is damaged."""
    with Path(path).open("rb") as file:
        elf = read_elf(file, path) if is_elf(file.read(4)) else None
    return Member(place, path, elf, is_linked_here and elf is not None and not refusal(elf))


def _place(file: Runfile, needed: set[str], workspace: str) -> str:
    """Return the place of a file outside of the SDK: loaders find libraries, and programs find data as in runfiles."""
    if file.name in needed or SOLIB in file.short_path:
        return f"{LIBRARIES}/{file.name}"
    known = posixpath.normpath(f"{workspace}/{file.short_path}")  # other repositories begin with ../
    return f"{PROGRAMS}/{file.program}.runfiles/{known}"


def members(
    programs: Sequence[str], files: Iterable[Runfile], *, sdk: str, workspace: str, is_bundled: bool
) -> list[Member]:
    """Return the files of an archive, sorted by place.

    `sdk` is the SDK's install prefix in runfiles. Its files keep their places below it, so that libraries find each
    other and their data; without `is_bundled`, they are left out. Raises ToolError if two files have one place.
    """
    found: dict[str, Member] = {}

    def add(member: Member) -> None:
        other = found.setdefault(member.place, member)
        if other.path != member.path:
            raise ToolError(
                f"{other.path} and {member.path} would both be {member.place}; expected programs and libraries with "
                "distinct names. Rename one, or make an archive of each"
            )

    for path in programs:
        name = posixpath.basename(path)
        folder = LIBRARIES if ".so" in name else PROGRAMS
        add(read_member(f"{folder}/{name}", path, is_linked_here=True))
    needed = {name for one in found.values() if one.elf for name in one.elf.needed}
    for file in files:
        if inside := file.below(sdk):
            # A library and a link to it are one file.
            if is_bundled and inside not in found:
                add(read_member(inside, file.path))
        elif file.path not in programs:
            add(read_member(_place(file, needed, workspace), file.path, is_linked_here=True))
    return sorted(found.values(), key=lambda one: one.place)


def search_path(member: Member, all_members: Iterable[Member], directories: Sequence[str]) -> tuple[str, ...]:
    """Return where a program or library looks for others: where the archive has any, then in `directories`."""
    folders = {
        posixpath.dirname(one.place)
        for one in all_members
        if one.elf and one.elf.soname and not one.place.startswith(f"{PROGRAMS}/")
    }
    here = posixpath.dirname(member.place)
    relative = [posixpath.relpath(folder, here) for folder in sorted(folders)]
    return (*("$ORIGIN" if path == "." else f"$ORIGIN/{path}" for path in relative), *directories)


def left_to_machine(all_members: Iterable[Member]) -> Mapping[str, str]:
    """Return the libraries that the archive lacks, sorted -> the first file that needs each."""
    present = list(all_members)
    inside = {posixpath.basename(one.place) for one in present}
    wanted: dict[str, str] = {}
    for one in present:
        for name in one.elf.needed if one.elf else ():
            if name not in inside:
                wanted.setdefault(name, one.place)
    return dict(sorted(wanted.items()))
