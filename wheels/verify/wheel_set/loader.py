"""Installs packages side by side, and tells which file the dynamic loader takes for each library, without running it.

    loading = Loader(linked, places, system).load("_sdk/lib/libhip.so.1")
    loading.missing   # what it would not find

The rules are glibc's (ld.so(8); elf/dl-load.c), with LD_LIBRARY_PATH and LD_PRELOAD unset:

1. An object that is loaded already, under the name asked for or with it as its SONAME, serves.
2. Else the DT_RPATH of the object that needs the library, of the object that had this one loaded, and so on up to the
   first: but only where the object that needs it has no DT_RUNPATH. Of an object that has both, DT_RPATH is ignored.
3. Else the DT_RUNPATH of that object alone.
4. Else the machine's own directories: the names that `system` matches.

In a directory, a file for another CPU or of another word size is passed over. Entries that do not begin with $ORIGIN,
and those with $LIB or $PLATFORM, lead to places that depend on the machine: nothing is found there. Nor in
`glibc-hwcaps` below a directory, which only some CPUs look into. A name with a slash is a path and is not searched for.

A development tree is made as `rules/runtime/devel_tree.py` makes it: a link out of the tree becomes a hard link to the
file of another package, and what packages by target offer is linked in as well, where the tree has nothing.
"""

import posixpath
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.model import ElfFile, after_origin
from lib.elf.opened_names import read_opened_names
from lib.elf.source import ElfError, Source
from lib.pack.stand_ins import COMMENT
from wheels.verify.model import FileFacts
from wheels.verify.wheel_set.model import DevelTree, Linked, Package

#: No forwarder is bigger, in bytes: it takes about 1,000, and 50 for each version of symbols.
_FORWARDER_SIZE: Final = 1 << 16


def read_linked(file: BinaryIO, facts: FileFacts) -> Linked | None:
    """Read an ELF file; None if the dynamic loader has nothing to do with it, or it is damaged: W4xx says so.

    It has nothing to do with static programs, device code and separate debug information.
    """
    elf = facts.elf
    if elf is None or not elf.has_dynamic or elf.machine == c.EM_AMDGPU or elf.debug_only:
        return None
    try:
        return _linked(file, elf)
    except ElfError:
        return None


def _linked(file: BinaryIO, elf: ElfFile) -> Linked:
    return Linked(
        path=elf.path,
        elf_class=elf.elf_class,
        machine=elf.machine,
        soname=elf.soname,
        needed=elf.needed,
        rpath=_search_path(elf.rpath) if elf.runpath is None else (),
        runpath=_search_path(elf.runpath),
        requires=dict(elf.versions_needed),
        provides=frozenset(elf.versions_defined),
        opens=tuple(sorted({posixpath.basename(name) for name in read_opened_names(file, elf)})),
        is_forwarder=_is_forwarder(file, elf),
    )


def _search_path(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(":")) if text is not None else ()


def _is_forwarder(file: BinaryIO, elf: ElfFile) -> bool:
    if elf.size >= _FORWARDER_SIZE:
        return False
    comments = (section for section in elf.section_headers if section.name == ".comment")
    source = Source(file, elf.path)
    return any(source.read(section.offset, section.size, ".comment") == COMMENT for section in comments)


#: The kernel follows no more links in one path (path_resolution(7)).
MAX_LINKS: Final = 40


class Places:
    """Files, and links with their texts; directories are those that the paths of both imply, and `directories`."""

    def __init__(self, files: Collection[str], links: Mapping[str, str], directories: Collection[str] = ()) -> None:
        self._files = frozenset(files)
        self._links = links
        self._directories = {""}
        for path in (*files, *links):
            self._add_parents(posixpath.dirname(path))
        for path in directories:
            self._add_parents(path)

    def _add_parents(self, path: str) -> None:
        while path not in self._directories:
            self._directories.add(path)
            path = posixpath.dirname(path)

    def resolve(self, path: str) -> str | None:
        """Return the path without links; None if there is nothing, or it leads out of site-packages."""
        budget = MAX_LINKS
        if not self._links:
            plain = inside(path)
            return plain if plain is not None and (plain in self._files or plain in self._directories) else None
        here: list[str] = []
        rest = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        while rest:
            part = rest.pop()
            if part == "..":
                if not here:
                    return None
                here.pop()
                continue
            here.append(part)
            now = "/".join(here)
            text = self._links.get(now)
            if text is not None:
                budget -= 1
                if budget < 0 or text.startswith("/"):
                    return None
                here.pop()
                rest += [part for part in reversed(text.split("/")) if part not in ("", ".")]
            elif now not in self._directories and not (now in self._files and not rest):
                return None
        return "/".join(here)

    def find_file(self, path: str) -> str | None:
        """Return the path without links of the file that a path leads to; None if it leads to none."""
        found = self.resolve(path)
        return found if found in self._files else None


def inside(path: str) -> str | None:
    """Return the path in normal form, taken as text; None if it is absolute or leads out of site-packages."""
    normal = posixpath.normpath(path)
    if normal.startswith(("/", "../")) or normal == "..":
        return None
    return "" if normal == "." else normal


_OTHER_TOKEN = re.compile(r"\$(?:(?:LIB|PLATFORM)(?![A-Za-z0-9_])|\{(?:LIB|PLATFORM)\})")


@dataclass(eq=False, slots=True)
class _Object:
    """A loaded file: the path that it was opened by, what it is, who had it loaded, and all its names."""

    path: str
    linked: Linked
    loader: "_Object | None"
    names: set[str]


@dataclass(frozen=True, slots=True)
class Missing:
    """A library that was not found: `object` needs `name`; `tried` are the directories where it was looked for."""

    object: str
    name: str
    tried: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Loading:
    """Result of loading one file with all that it needs.

    `found` has, for each object and name that it needs, the path of the file taken; None for one of the machine's own.
    """

    found: Mapping[tuple[str, str], str | None] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()


class Loader:
    """Loads files of one installation: `linked` by path, where `places` say that they are.

    `system` tells the names that the machine provides.
    """

    def __init__(self, linked: Mapping[str, Linked], places: Places, system: Callable[[str], bool]) -> None:
        self._linked = linked
        self._places = places
        self._system = system

    def load(self, path: str) -> Loading:
        """Load a file that is in `linked`, and all that it needs, breadth first, as the loader does."""
        first = _Object(path, self._linked[path], None, set())
        loaded = [first]
        queue = deque(loaded)
        found: dict[tuple[str, str], str | None] = {}
        missing = []
        while queue:
            current = queue.popleft()
            for name in current.linked.needed:
                known = _already(loaded, name)
                taken = known.path if known else self.find(current, name)
                if taken is None and not self._system(name):
                    missing.append(Missing(current.path, name, tuple(self._tried(current))))
                    continue
                found[current.path, name] = taken
                if taken is None or known:
                    continue
                same = next((one for one in loaded if one.linked is self._linked[taken]), None)
                if same:  # Another name of a file that is loaded.
                    same.names.add(name)
                    continue
                loaded.append(_Object(taken, self._linked[taken], current, {name}))
                queue.append(loaded[-1])
        return Loading(found, tuple(missing))

    def find(self, current: _Object, name: str) -> str | None:
        """Return the path of the file that serves an object for a name; None if the packages have none."""
        if "/" in name:
            return self._take(expanded(name, current.path), current.linked)
        candidates = (self._take(f"{directory}/{name}", current.linked) for directory in self._directories(current))
        return next((path for path in candidates if path is not None), None)

    def _take(self, path: str | None, wanted: Linked) -> str | None:
        """Return the path of a file that a path leads to, if the loader takes it."""
        real = self._places.find_file(path) if path is not None else None
        linked = self._linked.get(real) if real is not None else None
        if linked is None or (linked.elf_class, linked.machine) != (wanted.elf_class, wanted.machine):
            return None
        return real

    def _directories(self, current: _Object) -> Iterator[str]:
        for owner, entry in _entries(current):
            directory = expanded(entry, owner.path)
            if directory is not None:
                yield directory

    def _tried(self, current: _Object) -> Iterator[str]:
        """Yield the directories for people: in normal form, none twice."""
        yield from dict.fromkeys(inside(directory) or "." for directory in self._directories(current))


def _already(loaded: list[_Object], name: str) -> _Object | None:
    return next((one for one in loaded if name in one.names or one.linked.soname == name), None)


def _entries(current: _Object) -> Iterator[tuple[_Object, str]]:
    """Yield the search path entries that count for what an object needs, each with the object that has it."""
    if current.linked.runpath:
        yield from ((current, entry) for entry in current.linked.runpath)
        return
    owner: _Object | None = current
    while owner is not None:
        yield from ((owner, entry) for entry in owner.linked.rpath)
        owner = owner.loader


def expanded(entry: str, path: str) -> str | None:
    """Return the directory that a search path entry of the file at `path` means, not yet in normal form.

    None where that depends on the machine, or lies outside of site-packages.
    """
    rest = after_origin(entry)
    if rest is None or _OTHER_TOKEN.search(rest):
        return None
    directory = (posixpath.dirname(path) or ".") + rest
    return directory if inside(directory) is not None else None


@dataclass(frozen=True)
class Installation:
    """Packages that are installed together; `linked` has all that the loader can take, also in the development tree."""

    packages: tuple[Package, ...]
    places: Places
    linked: Mapping[str, Linked]
    owners: Mapping[str, Package]
    """Which package brings a file."""

    def loader(self, system: Callable[[str], bool]) -> Loader:
        """Return a loader of its files; `system` says whether the system has a library."""
        return Loader(self.linked, self.places, system)


def install(packages: Sequence[Package]) -> Installation:
    """Install packages."""
    owners: dict[str, Package] = {}
    linked: dict[str, Linked] = {}
    links: dict[str, str] = {}
    directories: set[str] = set()
    for package in packages:
        for path in package.files:
            owners.setdefault(path, package)
        for path, own in package.linked.items():
            linked.setdefault(path, own)
    for package in packages:
        if package.devel and not package.devel.damage:
            added, links_of_tree = expand(package.devel, owners, packages)
            links |= links_of_tree
            directories |= package.devel.directories
            for path, source in added.items():
                owners.setdefault(path, package)
                one = package.devel.linked.get(path) if source is None else linked.get(source)
                if one is not None:
                    linked.setdefault(path, replace(one, path=path))
    return Installation(tuple(packages), Places(owners, links, directories), linked, owners)


def expand(
    devel: DevelTree, files: Collection[str], packages: Sequence[Package]
) -> tuple[dict[str, str | None], dict[str, str]]:
    """Return what the development tree holds: files, each with the file that it is a hard link to or None, and links.

    A link out of the tree whose file is not in `files` is not made.
    """
    made: dict[str, str | None] = dict.fromkeys(devel.files)
    links: dict[str, str] = {}
    for path, text in devel.links.items():
        source = outward(devel, path, text)
        if source is None:
            links[path] = text
        elif source in files:
            made[path] = source
    for below, source in (one for package in packages for one in package.offered.items()):
        path = f"{devel.tree}/{below}"
        if path not in links and source in files:
            made.setdefault(path, source)
    return made, links


def outward(devel: DevelTree, path: str, text: str) -> str | None:
    """Return the file of another package that a link of the archive stands for; None if it stays inside the tree."""
    target = inside(posixpath.join(posixpath.dirname(path), text))
    if target is None or target == devel.tree or target.startswith(devel.tree + "/"):
        return None
    return target
