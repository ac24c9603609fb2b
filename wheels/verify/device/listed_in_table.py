"""D101, D112: what libraries have code for is just what the coverage table lists.

The table is of the libraries that the selector selects, or of all if there is no selector. Targets that nobody offers
need no packages.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from lib.coverage.table import Coverage, owner_of
from lib.device.kpack import SUFFIX
from lib.gpus.families import parse_family
from lib.gpus.target_id import TargetId, parse_target_id
from wheels.verify.device.package_contents import device_files, target_of_database
from wheels.verify.device.package_targets import in_scope, serves, serves_family
from wheels.verify.device.places import Copy, DeviceLibrary, Tree
from wheels.verify.device.rules import NO_CODE, UNLISTED, listed
from wheels.verify.finding import Finding

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
        wanted = {code for code in codes_of(table, path) if not offered or _is_offered(code, offered)}
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


def _is_offered(code: TargetId, offered: Collection[str]) -> bool:
    for target in offered:
        family = parse_family(target)
        if serves_family([code], family) if family else serves([code], parse_target_id(target)):
            return True
    return False


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
