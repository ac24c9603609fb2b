"""D101 to D113: each library has its device code for every GPU target that it is for, in all its parts, and no other.

Device code comes in bundles inside libraries, in files by themselves, or split off into `.kpack` archives. Each part of
a library should have what any part of it has; offered targets that it does not serve at all are worth a note. If a GPU
target is chosen, only that counts, and libraries that the selector does not select are to have code for it as well: a
framework's, for example. Targets that nobody offers need no packages.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from packaging.utils import canonicalize_name

from lib.gpus.families import overlap
from lib.gpus.target_id import TargetId
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
    target_of_database,
)
from wheels.verify.device.places import DeviceLibrary, Tree, check_entries, find_libraries, find_trees
from wheels.verify.device.rules import DAMAGED, OF_TARGETS, WRONG_PACKAGE
from wheels.verify.finding import Finding
from wheels.verify.wheel_set.model import Package


def check_device_code(groups: Sequence[Sequence[Package]], target: str) -> Iterator[Finding]:
    """Look at device code; a group of packages is installed together, and `target` is the chosen GPU, if any."""
    for finding in dict.fromkeys(one for together in groups for one in _check_together(together, target)):
        yield from _about(finding, target)


def _about(finding: Finding, target: str) -> Iterator[Finding]:
    """Yield a finding, if a GPU is chosen only with targets that match it, and not at all if none does."""
    if not target or finding.id not in OF_TARGETS:
        yield finding
    elif targets := tuple(one for one in finding.targets if overlap(one, target)):
        yield replace(finding, targets=targets)


def _check_together(packages: Sequence[Package], target: str) -> Iterator[Finding]:
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
    trees = list(find_trees(packages, owned).values())
    libraries = find_libraries(trees)
    misplaced = [one for library in libraries for copy in library.copies for one in check_misplaced(copy)]
    yield from misplaced
    for package in packages:
        own = owned.get(package.name)
        if own is not None and own.is_exact:
            yield from check_ballast(package, own, {one.file for one in misplaced if one.wheel == package.filename})
    offered = offered_targets(packages, owned)
    for tree in trees:
        for package in tree.packages:
            yield from check_entries(package, tree.name, tree.packages)
    beside = _beside(libraries, packages) if target else []
    for library in beside:
        yield from check_chosen(library, target)
    selected = [library for library in libraries if library not in beside]
    yield from _check_libraries(selected, trees, offered, known)
    yield from _check_libraries(beside, trees, frozenset(), known)
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
    libraries: Sequence[DeviceLibrary], trees: Sequence[Tree], offered: Collection[str], known: Collection[TargetId]
) -> Iterator[Finding]:
    """Check each library against itself."""
    useless = useless_targets(libraries, offered)
    there = expanded(offered, known)
    for library in libraries:
        for copy in library.copies:
            yield from check_even(copy, in_scope(library.codes, copy.tree.targets, known), there)
        yield from check_narrow(library, trees, offered, useless)


def _check_owner(package: Package, own: Owned, processors: Collection[str]) -> Iterator[Finding]:
    """Check for whom files are by their names: one finding for all files that are for one other target.

    Libraries for a family are mostly built for more targets, and come with the files for these.
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
