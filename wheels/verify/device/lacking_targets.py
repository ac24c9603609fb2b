"""D108, D110, D113, S138: offered targets that a library does not serve, and those that hardly any library serves.

A target that lacks what nearly all others have (`lib.coverage.compare`) is an error; else it is taken for
intended.
"""

from collections.abc import Collection, Iterator, Sequence

from lib.coverage.compare import refused
from lib.coverage.table import collect
from lib.gpus.families import parse_family
from lib.gpus.target_id import TargetId
from wheels.verify.device.package_targets import expanded, unserved
from wheels.verify.device.places import Copy, DeviceLibrary, Tree
from wheels.verify.device.rules import LACKS_BASE, NARROW, NO_CODE, NOT_CHOSEN, listed
from wheels.verify.finding import Finding
from wheels.verify.wheel_set.model import Package
from wheels.verify.wheel_set.selector import DEFAULT


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
            yield DEFAULT.finding(defaults[target].filename, "", evidence, [target])
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
        yield NARROW.finding(*_where(library, lacking), evidence, lacking)


def check_chosen(library: DeviceLibrary, target: str) -> Iterator[Finding]:
    """Check that a library has code for the GPU of the machine."""
    lacking = unserved(library.codes, [target])
    if lacking:
        evidence = f"there is code for {listed(library.codes)}"
        yield NOT_CHOSEN.finding(*_where(library, lacking), evidence, lacking)


def _where(library: DeviceLibrary, lacking: Sequence[str]) -> tuple[str, str]:
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
