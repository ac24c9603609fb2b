"""Finds the libraries that a wheel needs of an SDK, those that it bundles, and those that it opens by name.

Libraries of its own that it opens by name must stay where they are. For one of the SDK the loader looks on the machine,
and may find another copy.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from lib.common.program import ToolError
from lib.elf.library_name import SUFFIX, parse_library_name
from lib.wheel.member_file import MemberError, MemberReader
from wheels.common.sound_wheel import SoundWheel
from wheels.require_sdk.libraries import known_as, stem, ungrafted
from wheels.require_sdk.sdk import Sdk, SdkLibrary
from wheels.verify.wheel_set.loader import install
from wheels.verify.wheel_set.model import Linked, Package

#: So many faults are named; the rest is a number.
SHOWN = 10


@dataclass(frozen=True)
class Copy:
    """A library of an SDK that a wheel has, too. Paths are relative to site-packages."""

    path: str
    size: int
    library: SdkLibrary | None
    """The SDK's; None if it has that library with another SONAME only, or not at all."""
    other: str
    """What the SDK has instead, or what the library is called in it; empty for what copies need that are left out."""
    stays: str = ""
    """Why it is not left out; empty if it is."""


@dataclass(frozen=True)
class FileNeeds:
    """Libraries of the SDK that one program or library needs, by the names in its DT_NEEDED."""

    path: str
    linked: Linked
    libraries: Mapping[str, SdkLibrary]
    others: tuple[str, ...]
    """What neither the wheel, nor the SDK, nor every system has."""

    @property
    def renamed(self) -> dict[str, str]:
        """The names of needed libraries that become others."""
        return {name: library.name for name, library in self.libraries.items() if name != library.name}

    @property
    def directories(self) -> list[str]:
        """The SDK's directories that must be searched, in the order of the needed libraries."""
        return list(dict.fromkeys(library.directory for library in self.libraries.values()))


def own_names(package: Package) -> dict[str, list[str]]:
    """Return the paths of a wheel's libraries by the names that a file can need them by."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, linked in sorted(package.linked.items()):
        for name in {posixpath.basename(path), linked.soname or posixpath.basename(path)}:
            found[name].append(path)
    return found


def copies(package: Package, sdk: Sdk, stays: Callable[[str, str], str]) -> list[Copy]:
    """Find the libraries of the SDK that a wheel has copies of.

    `stays` says why one may not be left out, given its path and what the SDK calls it; `""` if it may.
    """
    found, stems = [], sdk.stems
    for path, linked in sorted(package.linked.items()):
        base = posixpath.basename(path)
        if not parse_library_name(path):
            continue
        names = (known_as(name, sdk.offered) for name in (linked.soname or base, base))
        name = next((name for name in names if name is not None), None)
        size = package.files[path].size
        if name is not None:
            found.append(Copy(path, size, sdk.offered[name], name, stays(path, name)))
        elif stem(base) in stems:
            other = stems[stem(base)]
            found.append(Copy(path, size, None, other, f"the SDK has {other}, and this is another SONAME"))
    return found


def orphans(package: Package, left_out: Collection[Copy], is_left: Callable[[str], bool]) -> list[Copy]:
    """Find the libraries that auditwheel grafted for copies that are left out, and that nothing else needs.

    `is_left` tells the names of those that stay.
    """
    own, found = own_names(package), list[Copy]()
    gone = {copy.path for copy in left_out}
    while True:
        needed = {name for path, one in package.linked.items() if path not in gone for name in one.needed}
        lost = {name for path in gone for name in package.linked[path].needed} - needed
        paths = {
            path for name in lost for path in own.get(name, ()) if ungrafted(name) != name and not is_left(name)
        } - gone
        if not paths:
            return found
        gone |= paths
        found += [Copy(path, package.files[path].size, None, "") for path in sorted(paths)]


def file_needs(
    package: Package,
    sdk: Sdk,
    left_out: Collection[Copy],
    is_left: Callable[[str], bool],
    is_system: Callable[[str], bool],
    may_be_external: Callable[[str], bool],
) -> list[FileNeeds]:
    """Return what each file needs when these copies are left out, sorted.

    `is_left` tells the names that are not taken from the SDK, `is_system` those that every system has. Raises ToolError
    if a file needs a library that the SDK has under another SONAME only, unless it `may_be_external`.
    """
    own, gone = _OwnLibraries(package), {copy.path: copy for copy in left_out}
    found, faults, stems = [], list[str](), sdk.stems
    for path, linked in sorted(package.linked.items()):
        if path in gone:
            continue
        libraries, others = {}, []
        for name in linked.needed:
            if own.serve(path, name, gone):
                continue
            base = posixpath.basename(name)
            if own.has_file(base, gone):  # Not the SDK's as well: a process would have two of them.
                others += [name] if name != base else []
                continue
            library = next((gone[one].library for one in own.names.get(base, ()) if one in gone), sdk.offered.get(base))
            if library is not None and not (is_left(name) or is_left(library.name)):
                libraries[name] = library
            elif not is_system(name):
                others.append(name)
                if stem(base) in stems and base not in sdk.offered and not may_be_external(name):
                    faults.append(f"{path} needs {name}, and the SDK has {stems[stem(base)]}")
        found.append(FileNeeds(path, linked, libraries, tuple(others)))
    if faults:
        raise ToolError(
            f"{package.filename}: was built with another version of the SDK:{shown(faults)}\nGive the wheels of that "
            "version as --sdk, build the wheel with this one, or leave the library to the system with --externals"
        )
    return found


class _OwnLibraries:
    """The libraries of a wheel, by the names that files need them by."""

    def __init__(self, package: Package) -> None:
        self.names = own_names(package)
        loader = install((package,)).loader(lambda name: False)
        self._taken: dict[tuple[str, str], str | None] = {}
        for path in sorted(package.linked):
            self._taken = {**loader.load(path).found, **self._taken}

    def serve(self, path: str, name: str, gone: Collection[str]) -> bool:
        """Whether the loader takes one for a name, that is not in `gone`.

        A SONAME alone does not count: the loader looks for files, and compares SONAMEs of what it has loaded.
        """
        taken = self._taken.get((path, name))
        return taken is not None and taken not in gone

    def has_file(self, base: str, gone: Collection[str]) -> bool:
        """Whether a file that is not in `gone` is called so, wherever it lies."""
        return any(posixpath.basename(one) == base and one not in gone for one in self.names.get(base, ()))


def shown(faults: Collection[str]) -> str:
    """Return lines for an error: the first faults, and how many more there are."""
    first = list(faults)[:SHOWN]
    more = f"\n  and {len(faults) - len(first)} more" if len(faults) > len(first) else ""
    return "".join(f"\n  {fault}" for fault in first) + more


def matches(patterns: Collection[str]) -> Callable[[str], bool]:
    """Return what tells the names that match one of the patterns."""
    return lambda name: any(fnmatchcase(name, pattern) for pattern in patterns)


def directory_entries(path: str, directories: Collection[str]) -> Iterator[str]:
    """Yield search path entries of the file at `path` for directories of site-packages."""
    start = posixpath.dirname(path) or "."
    for directory in directories:
        yield f"$ORIGIN/{posixpath.relpath(directory or '.', start)}"


#: Sources of Python are not larger, in bytes.
_LARGEST: Final = 16 << 20
_NAME: Final = re.compile(rb"(?<![\w.-])lib[\w.+-]*?" + SUFFIX.encode() + rb"(?![\w.-])")


def mentioned(wheel: SoundWheel, package: Package, path: str) -> str:
    """Return a sentence that names the file of the wheel in which a library's file name occurs; `""` if there is none.

    Such a file may open the library by that name.
    """
    name = posixpath.basename(path)
    for other, linked in sorted(package.linked.items()):
        if name in linked.opens and other != path:
            return f"{other} has its name among its constants, and may open it"
    for source, text in _sources(wheel):
        if name.encode() in text:
            return f"{source} names it, and may open it"
    return ""


def opened_by_name(wheel: SoundWheel, package: Package, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return which files of the wheel may open libraries of these names, with or without a version, and which.

    Not those that the file needs anyway (DT_NEEDED), which the loader has loaded then.
    """
    known = {*names, *(f"{library.stem}.so" for name in names if (library := parse_library_name(name)))}
    found: dict[str, tuple[str, ...]] = {}
    for path, linked in sorted(package.linked.items()):
        if opened := known.intersection(linked.opens) - set(linked.needed):
            found[path] = tuple(sorted(opened))
    for source, text in _sources(wheel):
        if opened := known.intersection(match.decode() for match in _NAME.findall(text)):
            found[source] = tuple(sorted(opened))
    return found


def _sources(wheel: SoundWheel) -> Iterator[tuple[str, bytes]]:
    """Yield the texts of a wheel that programs read."""
    with wheel.path.open("rb") as file:
        for source in sorted(wheel.members):
            member = wheel.members[source]
            if source.endswith((".py", ".json", ".toml")) and member.size <= _LARGEST and ".dist-info/" not in source:
                with suppress(MemberError):  # The wheel was changed: writing it finds that out.
                    yield source, b"".join(MemberReader(file, member).chunks())
