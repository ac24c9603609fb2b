"""Finds libraries with device code, and the places of that code: bundles, directories of files per target, archives.

    for library in find_libraries(find_trees(packages, owned).values()):
        library.codes   # the union of all that it has, in all packages of its kind

Files by themselves belong to a library (`lib.device.coverage`). Packages that are for one target each, or for
one family, have copies of a library, each with a part of its code: these are one library with several copies.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lib.common.distributions import PER_TARGET, named_tree
from lib.device.coverage import owner_of
from lib.device.kpack import PLACEHOLDER
from lib.elf.library_name import parse_library_name
from lib.gpus.target_id import TargetId
from wheels.verify.device.facts import DeviceFacts
from wheels.verify.device.package_targets import Owned, device_files, known_targets, serves, target_of_name, unserved
from wheels.verify.device.rules import ENTRIES
from wheels.verify.finding import Finding
from wheels.verify.wheel_set.model import Package


@dataclass(frozen=True)
class CodePlace:
    """A bundle, the bundle's entries in archives, or the files of a directory that are named for targets.

    `path` is where the file, or the directory, is in the wheel of `package`; `number` counts the file's bundles.
    """

    package: Package
    path: str
    codes: frozenset[TargetId]
    number: int = 0
    is_directory: bool = False
    is_archived: bool = False
    """Whether the code is in archives, to which the file at `path` refers."""
    is_program: bool = False
    """Whether the file is an ELF file, and so owns its code."""


@dataclass(frozen=True)
class Archives:
    """Archives that a library names: `searched` are paths with a placeholder, `found` the archives there, by path."""

    name: str
    """What the library is called in archives."""
    searched: tuple[str, ...]
    found: Mapping[str, DeviceFacts]

    def codes(self, number: int) -> frozenset[TargetId]:
        """Return for what the archives have a bundle."""
        entry = f"{self.name}#{number}"
        return frozenset().union(*(facts.archive.get(entry, frozenset()) for facts in self.found.values()))

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the bundles that any archive has an entry for."""
        pairs = (entry.rpartition("#") for facts in self.found.values() for entry in facts.archive)
        return frozenset(int(number) for name, _, number in pairs if name == self.name and number.isdecimal())

    def named_for(self, target: TargetId) -> list[str]:
        """Return the archives at the paths that the library gives for a target, sorted; empty if there are none."""
        wanted = [place.replace(PLACEHOLDER, str(target)) for place in self.searched]
        return sorted(path for path in self.found if path in wanted)


def archives_of(path: str, facts: DeviceFacts, packages: Sequence[Package]) -> Archives | None:
    """Return what a library refers to among the files of packages; None if its code was not split off."""
    if facts.reference is None:
        return None
    folder = posixpath.dirname(path)
    searched = tuple(posixpath.normpath(posixpath.join(folder, one)) for one in facts.reference.paths)
    patterns = [re.compile(re.escape(place).replace(re.escape(PLACEHOLDER), "[^/]+")) for place in searched]
    found = {
        place: one
        for package in packages
        for place, one in device_files(package).items()
        if any(pattern.fullmatch(place) for pattern in patterns)
    }
    return Archives(facts.reference.name, searched, found)


def archived_places(
    package: Package, path: str, facts: DeviceFacts, packages: Sequence[Package]
) -> Iterator[CodePlace]:
    """Yield a place for each bundle that a library takes out of archives. Those that none has are `check_entries`'."""
    archives = archives_of(path, facts, packages)
    for number in sorted(archives.numbers) if archives else ():
        if archives and (number in facts.wrappers or not facts.wrappers):
            yield CodePlace(package, path, archives.codes(number), number, is_archived=True, is_program=True)


def check_entries(package: Package, top: str, packages: Sequence[Package]) -> Iterator[Finding]:
    """Compare the wrappers of each library in a tree, which ask for bundles by number, with what archives have."""
    for path, facts in device_files(package).items():
        archives = archives_of(path, facts, packages) if path.startswith(top + "/") else None
        if archives is None or not archives.numbers or not facts.wrappers:
            continue
        wanted, there = frozenset(facts.wrappers), archives.numbers
        if wanted != there:
            targets = tuple(sorted({str(code) for number in there for code in archives.codes(number)}))
            numbers = ", ".join(f"#{number}" for number in sorted(wanted ^ there)[:5])
            evidence = f"{len(wanted)} bundles, {len(there)} in archives; only one of the two has {numbers}"
            yield ENTRIES.finding(package.filename, path, evidence, targets)


def why_missing(archives: Archives, target: TargetId) -> str:
    """Say why no archive has anything of a library for a target: no archive, or no entry in it."""
    there = archives.named_for(target)
    if not there:
        return f"there is no archive for it; looked for {', '.join(archives.searched)}"
    has = [path for path in there if any(serves(codes, target) for codes in archives.found[path].archive.values())]
    return f"{', '.join(has or there)} lacks an entry for {archives.name}/{target}"


@dataclass(frozen=True)
class Tree:
    """A directory at the top, and whom the packages are for that have files in it.

    `targets` are targets and families; empty if a package for all GPUs is among them.
    """

    name: str
    packages: tuple[Package, ...]
    owners: Mapping[str, str]
    """Of packages that are for a target or family, the file name by that."""
    targets: frozenset[str]
    is_offered: bool
    """Whether the selector offers it, or it is for all GPUs."""

    def can_use(self, code: TargetId) -> bool:
        """Whether it is for GPUs that can load such code."""
        return not self.targets or any(not unserved([code], [target]) for target in self.targets)

    @property
    def known(self) -> frozenset[TargetId]:
        """Targets that any of its files has code for."""
        return known_targets(self.packages)

    @property
    def kind(self) -> str:
        """The name without the target: equal for packages that differ in nothing but the target."""
        return _without(self.name, self.targets)


@dataclass(frozen=True)
class Copy:
    """Copy of a library in one tree; `path` is the library's path below the tree, as in the coverage table."""

    tree: Tree
    path: str
    places: tuple[CodePlace, ...]

    @property
    def codes(self) -> frozenset[TargetId]:
        """Targets that it has code for, in any place."""
        return frozenset().union(*(place.codes for place in self.places))


@dataclass(frozen=True)
class DeviceLibrary:
    """A library with device code, in all packages of its kind."""

    copies: tuple[Copy, ...]

    @property
    def codes(self) -> frozenset[TargetId]:
        """Targets that any copy has code for, if the copy's package is for such GPUs."""
        return frozenset(code for copy in self.copies for code in copy.codes if copy.tree.can_use(code))


def find_trees(packages: Sequence[Package], owned: Mapping[str, Owned]) -> dict[str, Tree]:
    """Return the directories at the top of the packages, sorted."""
    found: dict[str, list[Package]] = defaultdict(list)
    for package in packages:
        for top in {path.partition("/")[0] for path in package.files if "/" in path}:
            found[top].append(package)
    trees = {}
    for top, having in sorted(found.items()):
        owners = [owned.get(package.name) for package in having]
        targets = frozenset(own.target for own in owners if own) if None not in owners else frozenset()
        is_offered = any(own is None or own.is_offered for own in owners)
        by_target = {own.target: package.filename for own, package in zip(owners, having, strict=True) if own}
        trees[top] = Tree(top, tuple(having), by_target, targets, is_offered)
    return trees


def find_libraries(trees: Iterable[Tree]) -> list[DeviceLibrary]:
    """Return all libraries that have device code in these trees, sorted by their first copy."""
    grouped: dict[tuple[str, str], list[Copy]] = defaultdict(list)
    kinds: dict[str, list[Tree]] = defaultdict(list)
    for tree in trees:
        kinds[tree.kind].append(tree)
        for path, places in sorted(_places(tree).items()):
            grouped[tree.kind, _without(path, tree.targets)].append(Copy(tree, path, tuple(places)))
    for (kind, key), copies in grouped.items():
        having = {copy.tree.name for copy in copies}
        copies += [Copy(tree, _with(key, tree.targets), ()) for tree in kinds[kind] if tree.name not in having]
    return [DeviceLibrary(tuple(_completed(copies))) for _, copies in sorted(grouped.items())]


def _completed(copies: Sequence[Copy]) -> Iterator[Copy]:
    """Yield the copies, each with a place without code for every file or directory that others have."""
    known: dict[str, CodePlace] = {}
    for copy in copies:
        for place in copy.places:
            known.setdefault(_without(_below(place.path), copy.tree.targets), place)
    for copy in copies:
        own = {_without(_below(place.path), copy.tree.targets) for place in copy.places}
        missing = tuple(
            CodePlace(
                copy.tree.packages[0],
                f"{copy.tree.name}/{_with(path, copy.tree.targets)}",
                frozenset(),
                is_directory=place.is_directory,
                is_program=place.is_program,
            )
            for path, place in sorted(known.items())
            if path not in own
        )
        yield replace(copy, places=copy.places + missing)


def _places(tree: Tree) -> dict[str, list[CodePlace]]:
    """Return the places of each library of a tree, by the library's path below it."""
    libraries = _libraries(tree)
    found: dict[str, list[CodePlace]] = defaultdict(list)
    for place in _all_places(tree):
        below = _below(place.path)
        is_own = below in libraries or place.is_program
        # What is asked about is a file: a directory is not its own owner.
        key = below if is_own else owner_of(posixpath.join(below, ".") if place.is_directory else below, libraries)
        found[key].append(place)
    return found


def _libraries(tree: Tree) -> frozenset[str]:
    """Return the libraries of a tree, below it; what merely forwards to one is none."""
    return frozenset(
        _below(path)
        for package in tree.packages
        for path in (
            *package.linked,
            *(path for path in package.files if package.is_windows and package.files[path].pe),
        )
        if path.startswith(tree.name + "/")
        and (parse_library_name(path) or path.lower().endswith(".dll"))
        and not (path in package.linked and package.linked[path].is_forwarder)
    )


def _all_places(tree: Tree) -> Iterator[CodePlace]:
    named: dict[str, dict[str, TargetId]] = defaultdict(dict)
    for package in tree.packages:
        for path in package.files:
            target = target_of_name(path)
            if target is not None and path.startswith(tree.name + "/"):
                named[posixpath.dirname(path)][path] = target
        for path, facts in device_files(package).items():
            if not path.startswith(tree.name + "/") or target_of_name(path) is not None:
                continue
            for number, codes in enumerate(facts.bundles):
                yield CodePlace(package, path, codes, number, is_program=facts.is_program)
            yield from archived_places(package, path, facts, tree.packages)
    for directory, files in sorted(named.items()):
        having = next(package for package in tree.packages if files.keys() & package.files.keys())
        yield CodePlace(having, directory, frozenset(files.values()), is_directory=True)


def _below(path: str) -> str:
    return path.partition("/")[2]


def _without(text: str, targets: Iterable[str]) -> str:
    """Return a path or name with a placeholder for the target, if there is just one."""
    found: Collection[str] = sorted(targets)
    for target in found if len(found) == 1 else ():
        text = text.replace(named_tree(PER_TARGET, target), PER_TARGET).replace(target, PER_TARGET)
    return text


def _with(text: str, targets: Iterable[str]) -> str:
    """Return a path with the target instead of the placeholder, if there is just one."""
    found: Collection[str] = sorted(targets)
    return text.replace(PER_TARGET, next(iter(found))) if len(found) == 1 else text
