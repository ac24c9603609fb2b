"""D101 to D103, D106, D107: a library has code for all targets that it is for, and packages have no other code.

The measure is the union of what the library itself has.
What is missing for one reason is one finding, about all targets and files that lack the same. Code that no GPU can load
which a package is for is ballast: everybody downloads it, and nobody runs it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from lib.device.coverage import collect, refused
from lib.gpus.families import parse_family
from lib.gpus.target_id import TargetId
from wheels.verify.device.package_targets import Owned, device_files, expanded, serves, unserved
from wheels.verify.device.places import CodePlace, Copy, DeviceLibrary, Tree, archives_of, why_missing
from wheels.verify.device.rules import (
    LACKS_BASE,
    NARROW,
    NO_ARCHIVE,
    NO_CODE,
    NO_VARIANT,
    NOT_CHOSEN,
    OTHER_CODE,
    UNEVEN,
    listed,
)
from wheels.verify.finding import Finding
from wheels.verify.wheel_set.model import Package
from wheels.verify.wheel_set.requirements import DEFAULT_TARGET


def check_even(copy: Copy, wanted: Iterable[TargetId], offered: Collection[str]) -> Iterator[Finding]:
    """Check that each place of a copy has code for each of these targets.

    What is spread over packages, each for one target, need be there for those that are `offered` alone (for all, if
    none is).
    """
    lacking: dict[tuple[int, ...], list[TargetId]] = defaultdict(list)
    for target in sorted(wanted):
        is_spread_there = not offered or target.processor in offered
        places = tuple(
            at
            for at, place in enumerate(copy.places)
            if not serves(place.codes, target) and (is_spread_there or not (place.is_directory or place.is_archived))
        )
        if places and not any(one.processor == target.processor for one in lacking.get(places, ())):
            lacking[places].append(target)
    for at, targets in sorted(lacking.items()):
        yield from _report(copy, [copy.places[number] for number in at], targets)


def _report(copy: Copy, lacking: Sequence[CodePlace], targets: Sequence[TargetId]) -> Iterator[Finding]:
    """Report that these places have no code for these targets."""
    variants = [one for one in targets if all(serves(place.codes, TargetId(one.processor)) for place in lacking)]
    whole = [one for one in targets if one not in variants]
    everywhere = len(lacking) == len(copy.places)
    for found, is_variant in ((whole, False), (variants, True)):
        if not found:
            continue
        if not everywhere:
            yield from _uneven(copy, lacking, found)
            continue
        if is_variant:
            yield NO_VARIANT.finding(*_where(copy, lacking, found), _has(copy), map(str, found))
            continue
        yield from _nowhere(copy, lacking, found)


def _uneven(copy: Copy, lacking: Sequence[CodePlace], targets: Sequence[TargetId]) -> Iterator[Finding]:
    """Report places that lack what others of the library have: archives without an entry apart."""
    archived = [place for place in lacking if place.is_archived and not _is_partial(copy, place, targets)]
    rest = [place for place in lacking if place not in archived]
    if archived:
        yield from _unarchived(copy, archived, targets)
    if rest:
        evidence = f"no code that they can load in {_places(copy, rest)}"
        yield UNEVEN.finding(*_where(copy, rest, targets), evidence, map(str, targets))


def _is_partial(copy: Copy, place: CodePlace, targets: Sequence[TargetId]) -> bool:
    """Whether the archives have other bundles of the same file for a target."""
    same = [one for one in copy.places if one.path == place.path]
    return any(serves(one.codes, target) for one in same for target in targets)


def _nowhere(copy: Copy, lacking: Sequence[CodePlace], targets: Sequence[TargetId]) -> Iterator[Finding]:
    """Report targets that no place of the library has code for."""
    archived = [place for place in lacking if place.is_archived]
    if archived:
        yield from _unarchived(copy, archived, targets)
    elif lacking:
        yield NO_CODE.finding(*_where(copy, lacking, targets), _has(copy), map(str, targets))


def _unarchived(copy: Copy, places: Sequence[CodePlace], targets: Sequence[TargetId]) -> Iterator[Finding]:
    """Report that archives are missing, or their entries."""
    for path, package in sorted({place.path: place.package for place in places}.items()):
        archives = archives_of(path, device_files(package)[path], copy.tree.packages)
        reasons: dict[str, list[TargetId]] = defaultdict(list)
        for target in targets if archives else ():
            if archives:
                reasons[why_missing(archives, target)].append(target)
        for reason, found in sorted(reasons.items()):
            yield NO_ARCHIVE.finding(package.filename, path, reason, map(str, found))


def _where(copy: Copy, places: Sequence[CodePlace], targets: Sequence[TargetId]) -> tuple[str, str]:
    """Return the wheel and the file that a finding names: of files for one target, the wheel that should have them."""
    first = places[0]
    owner = copy.tree.owners.get(targets[0].processor) if first.is_directory and len(targets) == 1 else None
    return owner or first.package.filename, first.path


def _has(copy: Copy) -> str:
    return f"no code that they can load; there is code for {listed(copy.codes)}"


def _places(copy: Copy, lacking: Collection[CodePlace]) -> str:
    """Say which places lack something: of a file with several bundles how many, and which."""
    said = []
    for path in sorted({place.path for place in lacking}):
        numbers = sorted(place.number + 1 for place in lacking if place.path == path)
        count = sum(place.path == path for place in copy.places)
        shown = ", ".join(map(str, numbers[:5])) + (", …" if len(numbers) > 5 else "")
        said.append(path if count == 1 else f"{len(numbers)} of {count} bundles ({shown}) of {path}")
    return "; ".join(said)


def check_ballast(package: Package, owned: Owned, misplaced: Collection[str]) -> Iterator[Finding]:
    """Check the libraries and archives of a package that must have no other code, without `misplaced` files.

    Files with code for the same other targets are one finding.
    """
    found: dict[tuple[TargetId, ...], list[str]] = defaultdict(list)
    for path, facts in device_files(package).items():
        useless = tuple(sorted(code for code in facts.sizes if not owned.can_use(code)))
        if useless and path not in misplaced:
            found[useless].append(path)
    for targets, paths in sorted(found.items()):
        total = sum(device_files(package)[path].sizes.get(target, 0) for path in paths for target in targets)
        evidence = f"{total} bytes of code that {owned.target} cannot load{_more(paths)}"
        yield OTHER_CODE.finding(package.filename, paths[0], evidence, map(str, targets))


def _more(paths: list[str]) -> str:
    return f", in {len(paths)} files" if len(paths) > 1 else ""


def useless_targets(libraries: Sequence[DeviceLibrary], offered: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the offered targets that lack what nearly all others have, each with the libraries that it lacks."""
    held = [library for library in libraries if any(copy.tree.is_offered for copy in library.copies)]
    pairs = [(library.copies[0].path, str(code)) for library in held for code in library.codes]
    exact = [target for target in offered if parse_family(target) is None]
    found = {one.target: one.libraries for one in refused(collect(pairs), exact)}
    for family in sorted(set(offered) - set(exact)):
        if held and all(unserved(library.codes, [family]) for library in held):
            found[family] = tuple(library.copies[0].path for library in held)
    return found


def check_targets(
    packages: Sequence[Package], libraries: Sequence[DeviceLibrary], offered: Collection[str]
) -> Iterator[Finding]:
    """Check that each offered target can be worked with, and the default target above all."""
    useless = useless_targets(libraries, offered)
    defaults = {one.selector.default_target.split(":")[0]: one for one in packages if one.selector}
    for target, lacking in sorted(useless.items()):
        evidence = f"no code that it can load in {', '.join(lacking)}"
        if target in defaults:
            yield DEFAULT_TARGET.finding(defaults[target].filename, "", evidence, [target])
        else:
            yield LACKS_BASE.finding("", "", evidence, [target])


def check_misplaced(copy: Copy) -> Iterator[Finding]:
    """Check that a copy with code, in a package for certain targets, has code for one of them.

    Of files for one target each D105 says so.
    """
    targets = copy.tree.targets
    first = next((place for place in copy.places if place.codes and not place.is_directory), None)
    if targets and first and len(unserved(copy.codes, targets)) == len(targets):
        evidence = f"no code that they can load; there is code for {listed(copy.codes)}"
        yield NO_CODE.finding(first.package.filename, first.path, evidence, sorted(targets))


def check_narrow(
    library: DeviceLibrary, trees: Sequence[Tree], offered: Collection[str], useless: Collection[str]
) -> Iterator[Finding]:
    """Say which offered targets a library does not serve: one note. Of a family, its known processors are meant."""
    said = {target for copy in library.copies for one in check_misplaced(copy) for target in one.targets}
    targets = _targets(library, trees, offered) - said
    wanted = {member for target in targets for member in _members(target, trees)} - set(useless)
    lacking = unserved(library.codes, wanted)
    if lacking and library.codes:
        evidence = f"there is code for {listed(library.codes)}"
        yield NARROW.finding(*_narrow_where(library, lacking), evidence, lacking)


def check_chosen(library: DeviceLibrary, target: str) -> Iterator[Finding]:
    """Check that a library has code for the GPU of the machine."""
    lacking = unserved(library.codes, [target])
    if lacking:
        evidence = f"there is code for {listed(library.codes)}"
        yield NOT_CHOSEN.finding(*_narrow_where(library, lacking), evidence, lacking)


def _narrow_where(library: DeviceLibrary, lacking: Sequence[str]) -> tuple[str, str]:
    """Return wheel and file: of the package for the one lacking target, else of the first with code."""
    for copy in library.copies if len(lacking) == 1 else ():
        if copy.tree.targets == frozenset(lacking) and copy.places:
            return copy.places[0].package.filename, copy.places[0].path
    places = [(copy, place) for copy in library.copies for place in copy.places]
    copy, first = next((one for one in places if one[1].codes), places[0])
    itself = f"{copy.tree.name}/{copy.path}"
    owner = next((package for package in copy.tree.packages if itself in package.files), None)
    return (owner.filename, itself) if owner else (first.package.filename, first.path)


def _targets(library: DeviceLibrary, trees: Sequence[Tree], offered: Collection[str]) -> frozenset[str]:
    """Return the targets that a library could serve: the offered ones, else the targets of the packages of its kind."""
    kinds = {copy.tree.kind for copy in library.copies}
    of_kind = [tree for tree in trees if tree.kind in kinds]
    if any(tree.is_offered for tree in of_kind):
        return frozenset(offered)
    return frozenset(target for tree in of_kind for target in tree.targets)


def _members(target: str, trees: Sequence[Tree]) -> frozenset[str]:
    """Return the processors of a family that its packages have any code for; of a target, itself."""
    known: set[TargetId] = set()
    for tree in trees:
        known |= tree.known if target in tree.targets else set()
    return expanded([target], known)
