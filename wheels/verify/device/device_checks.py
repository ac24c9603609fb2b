"""D101 to D113: each library has its device code for every GPU target that it is for, in all its parts, and no other.

Device code comes in bundles inside libraries, in files by themselves, or split off into `.kpack` archives. What each
library should have, the coverage table says (`coverage` of the settings). Without one it is what the library has in any
of its parts; offered targets that it does not serve at all are then worth a note. If a GPU target is chosen, only that
counts, and libraries that the selector does not select are to have code for it as well: a framework's, for example.

The table is of the libraries that the selector selects, or of all if there is no selector. Targets that nobody offers
need no packages.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from packaging.utils import canonicalize_name

from lib.coverage.table import Coverage, owner_of
from lib.device.kpack import SUFFIX
from lib.gpus.families import overlap
from lib.gpus.target_id import TargetId, parse_target_id
from wheels.verify.device.code_for_targets import (
    check_ballast,
    check_chosen,
    check_even,
    check_misplaced,
    check_narrow,
    check_targets,
    useless_targets,
)
from wheels.verify.device.package_targets import (
    Owned,
    device_files,
    expanded,
    in_scope,
    known_targets,
    named_files,
    offered_targets,
    owned_packages,
    serves_target,
    target_of_database,
)
from wheels.verify.device.places import Copy, DeviceLibrary, Tree, check_entries, find_libraries, find_trees
from wheels.verify.device.rules import DAMAGED, NO_CODE, OF_TARGETS, UNLISTED, WRONG_PACKAGE, listed
from wheels.verify.finding import Finding
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.model import Package


def check_device_code(groups: Sequence[Sequence[Package]], settings: Settings, target: str) -> Iterator[Finding]:
    """Look at device code; a group of packages is installed together, and `target` is the chosen GPU, if any."""
    found: dict[Finding, None] = {}
    for together in groups:
        is_windows = any(package.is_windows for package in together)
        of_other = len(groups) > 1 and settings.coverage and is_windows != _is_for_windows(settings.coverage)
        own = replace(settings, coverage=None) if of_other else settings
        found |= dict.fromkeys(_check_together(together, own, target))
    for finding in found:
        yield from _about(finding, target)


def _about(finding: Finding, target: str) -> Iterator[Finding]:
    """Yield a finding, if a GPU is chosen only with targets that match it, and not at all if none does."""
    if not target or finding.id not in OF_TARGETS:
        yield finding
    elif targets := tuple(one for one in finding.targets if overlap(one, target)):
        yield replace(finding, targets=targets)


def _is_for_windows(table: Coverage) -> bool:
    """Whether a coverage table lists DLLs. A table is for one platform."""
    return any(library.lower().endswith(".dll") for library in table.libraries)


def _check_together(packages: Sequence[Package], settings: Settings, target: str) -> Iterator[Finding]:
    for package in packages:
        for path, facts in device_files(package).items():
            if facts.damage:
                yield DAMAGED.finding(package.filename, path, facts.damage)
    owned = owned_packages(packages)
    known = known_targets(packages)
    processors = {one.processor for one in known}
    for package in packages:
        own = owned.get(package.name)
        if own is not None:
            yield from _check_owner(package, own, processors)
            yield from check_ballast(package, own)
    trees = list(find_trees(packages, owned).values())
    libraries = find_libraries(trees)
    offered = offered_targets(packages, owned)
    for tree in trees:
        for package in tree.packages:
            yield from check_entries(package, tree.name, tree.packages)
    beside = _beside(libraries, packages) if target else []
    for library in beside:
        yield from check_chosen(library, target)
    selected = [library for library in libraries if library not in beside]
    yield from _check_libraries(selected, trees, offered, known, settings)
    yield from _check_libraries(beside, trees, frozenset(), known, replace(settings, coverage=None))
    yield from check_targets(packages, selected, offered)


def _beside(libraries: Sequence[DeviceLibrary], packages: Sequence[Package]) -> list[DeviceLibrary]:
    """Return the libraries that no selector selects: all, if there is none."""
    selectors = [package.selector for package in packages if package.selector]
    selected = {canonicalize_name(name) for selector in selectors for name in selector.selected()}
    return [
        library
        for library in libraries
        if not any(package.name in selected for copy in library.copies for package in copy.tree.packages)
    ]


def _check_libraries(
    libraries: Sequence[DeviceLibrary],
    trees: Sequence[Tree],
    offered: Collection[str],
    known: Collection[TargetId],
    settings: Settings,
) -> Iterator[Finding]:
    """Check each library against the table, or against itself."""
    table = settings.coverage
    useless = useless_targets(libraries, offered)
    there = expanded(offered, known)
    listed = [one for one in libraries if table and any(copy.tree.is_offered for copy in one.copies)]
    for library in libraries:
        for copy in library.copies:
            has = codes_of(table, copy.path) if table and library in listed else library.codes
            wanted = in_scope(has, copy.tree.targets, has if library in listed else known)
            yield from check_even(copy, wanted, there)
            yield from check_misplaced(copy)
        if library not in listed:
            yield from check_narrow(library, trees, offered, useless)
    if table:
        yield from check_listed(table, listed, [tree for tree in trees if tree.is_offered], offered)


def _check_owner(package: Package, own: Owned, processors: Collection[str]) -> Iterator[Finding]:
    """Check for whom files are by their names: one finding for all files that are for one other target.

    Libraries for a family that were built for more targets come with the files for these: D109 tells of both.
    """
    built_for: set[str] = set()
    if not own.is_exact:
        built_for = {code.processor for facts in device_files(package).values() for code in facts.sizes}
    databases = {path: target_of_database(path, processors) for path in sorted(package.files)}
    wrong: dict[TargetId, list[str]] = {}
    for path, found in (databases | named_files(package)).items():
        if found is not None and not own.can_use(found) and found.processor not in built_for:
            wrong.setdefault(found, []).append(path)
    for target, paths in sorted(wrong.items()):
        more = f"; so are {len(paths) - 1} more files" if len(paths) > 1 else ""
        evidence = f"the package is for {own.target}, the file by its name for another{more}"
        yield WRONG_PACKAGE.finding(package.filename, paths[0], evidence, [str(target)])


#: Databases of MIOpen's that hold kernels; the table counts them as code.
_KERNELS = ".kdb"


def codes_of(table: Coverage, path: str) -> frozenset[TargetId]:
    """Return what the table lists for a library."""
    return frozenset(parse_target_id(target) for target in table.libraries.get(path, ()))


def check_listed(
    table: Coverage, libraries: Sequence[DeviceLibrary], trees: Sequence[Tree], offered: Collection[str]
) -> Iterator[Finding]:
    """Compare libraries, and what lies in their trees, with the table. What copies lack, `check_even` says."""
    held: dict[str, list[Copy]] = defaultdict(list)
    for library in libraries:
        for copy in library.copies:
            held[copy.path].append(copy)
            yield from _unlisted(copy, codes_of(table, copy.path))
    for path in table.libraries:
        wanted = {
            code for code in codes_of(table, path) if not offered or any(serves_target([code], one) for one in offered)
        }
        if path not in held and (wanted := wanted - _otherwise_held(path, trees, wanted)):
            has = "the coverage table lists code, and the set has none"
            yield NO_CODE.finding("", path, has, map(str, sorted(wanted)))
            continue
        yield from _without_copy(path, held[path], codes_of(table, path), trees)


def _unlisted(copy: Copy, known: Collection[TargetId]) -> Iterator[Finding]:
    """Report code that is not listed. Archives are listed as files of their own."""
    codes = {code for place in copy.places if not place.is_archived for code in place.codes}
    more = sorted(codes - set(known))
    if more:
        first = next(place for place in copy.places if not place.is_archived and set(more) & place.codes)
        evidence = f"the table lists {listed(known)} for {copy.path}"
        yield UNLISTED.finding(first.package.filename, first.path, evidence, map(str, more))


def _otherwise_held(path: str, trees: Sequence[Tree], codes: Collection[TargetId]) -> set[TargetId]:
    """Return what archives below a directory, and a library's databases of kernels, are for: no parts of a library."""
    found: set[TargetId] = set()
    processors = {code.processor for code in codes}
    for tree in trees:
        for package in tree.packages:
            for file, facts in device_files(package).items():
                if file.endswith(SUFFIX) and file.startswith(f"{tree.name}/{path}"):
                    found.update(*facts.archive.values())
            for file in package.files:
                top, _, below = file.partition("/")
                if top == tree.name and file.endswith(_KERNELS) and owner_of(below, [path]) == path:
                    target = target_of_database(file, processors)
                    found |= {target} if target else set()
    return found


def _without_copy(
    path: str, copies: Sequence[Copy], codes: Collection[TargetId], trees: Sequence[Tree]
) -> Iterator[Finding]:
    """Report the trees, of those that are for one target or family, that have no copy of a library they should have."""
    kinds = {copy.tree.kind for copy in copies}
    having = {copy.tree.name for copy in copies}
    for tree in trees:
        wanted = in_scope(codes, tree.targets, codes) if tree.kind in kinds and tree.name not in having else ()
        if wanted:
            evidence = f"no device code at all; other packages have some in {path}"
            first = tree.packages[0].filename
            yield NO_CODE.finding(first, f"{tree.name}/{path}", evidence, map(str, sorted(wanted)))
