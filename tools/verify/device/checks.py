"""D101 to D109: every GPU target that the set is for has its device code in each library that has any, and no other.

Device code comes in bundles inside libraries, in files that are named for a target, or split off into `.kpack`
archives. The targets are those that the selector offers. Without one, only packages that are for a target by their
names have to have code for it; of others the bundles of each library are compared with each other.
"""

import posixpath
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from tools.device.target_id import TargetId
from tools.gpus.families import parse_family
from tools.verify.device.archives import check_archives
from tools.verify.device.ballast import check_ballast
from tools.verify.device.coverage import gaps, serves_family, wanted_targets
from tools.verify.device.facts import COLLECTORS
from tools.verify.device.named import target_of_database
from tools.verify.device.offers import Offer, device_files, find_offers, known_targets, named_files
from tools.verify.device.owned import Owned, owned_packages
from tools.verify.device.peers import check_peers
from tools.verify.device.rules import DAMAGED, NO_CODE, RULES, WRONG_PACKAGE, listed, report
from tools.verify.finding import Finding
from tools.verify.model import DistributionSet
from tools.verify.over_set.gather import gather
from tools.verify.over_set.model import Package
from tools.verify.settings import Settings
from tools.verify.suite import Suite


def check_set(distributions: DistributionSet, settings: Settings) -> Iterator[Finding]:
    """Look at the device code of all distributions together."""
    del settings
    packages, _ = gather(distributions)
    for package in packages:
        for path, facts in device_files(package).items():
            if facts.damage:
                yield DAMAGED.finding(package.filename, path, facts.damage)
    known = known_targets(packages)
    owned = owned_packages(packages)
    offers = find_offers(packages, owned)
    processors = {one.processor for one in known}
    for package in packages:
        own = owned.get(package.name)
        targets = [own.target] if own else [offer.target for offer in offers]
        yield from _check_libraries(package, targets, known, is_exact=own is not None and own.is_exact)
        if own is not None:
            yield from _check_owner(package, own, processors)
            yield from check_ballast(package, own)
    yield from check_peers(packages, owned)
    yield from _check_named(offers, known)
    yield from check_archives(packages, offers, known)


def _check_libraries(
    package: Package, targets: Sequence[str], known: frozenset[TargetId], *, is_exact: bool
) -> Iterator[Finding]:
    """Check the bundles inside the libraries of one package.

    Of a family the processors are wanted that the package itself has code for, in whatever file. What a library has
    code for beside the targets, all of its bundles are to have as well, if it may be there at all.
    """
    own = set(named_files(package).values())
    for facts in device_files(package).values():
        own.update(*facts.bundles)
    families = {target: family for target in targets if (family := parse_family(target)) is not None}
    others = {one for one in known if not any(family.has(one.processor) for family in families.values())}
    wanted = wanted_targets(targets, own | others)
    for path, facts in device_files(package).items():
        if facts.bundles:
            codes = frozenset().union(*facts.bundles)
            without = {name: family for name, family in families.items() if not serves_family(codes, family)}
            for name in sorted(without):
                evidence = f"no code for any GPU of {name}; there is code for {listed(codes)}"
                yield NO_CODE.finding(package.filename, path, evidence)
            every = {*wanted, *(TargetId(one.processor) for one in codes if not is_exact)}
            missed = {one for one in every if any(it.has(one.processor) for it in without.values())}
            for gap in gaps(facts.bundles, every - missed):
                yield report(package.filename, path, gap, facts.bundles)


def _check_owner(package: Package, own: Owned, processors: Collection[str]) -> Iterator[Finding]:
    """Check for whom files are by their names.

    Libraries for a family that were built for more targets come with the files for these: D109 tells of both.
    """
    built_for: set[str] = set()
    if not own.is_exact:
        built_for = {code.processor for facts in device_files(package).values() for code in facts.sizes}
    databases = {path: target_of_database(path, processors) for path in sorted(package.files)}
    for path, found in (databases | named_files(package)).items():
        if found is not None and not own.can_use(found) and found.processor not in built_for:
            yield WRONG_PACKAGE.finding(package.filename, path, f"is for {found}, the package for {own.target}")


def _check_named(offers: Sequence[Offer], known: frozenset[TargetId]) -> Iterator[Finding]:
    """Check the directories with files that are named for targets: each offered target needs some in each."""
    places: dict[str, set[str]] = {}
    for offer in offers:
        for package in offer.packages:
            for path in named_files(package):
                places.setdefault(posixpath.dirname(path), set()).add(package.filename)
    for offer in offers:
        trees = {path.split("/")[0] for package in offer.packages for path in package.files}
        here = {path: target for package in offer.packages for path, target in named_files(package).items()}
        for directory in sorted(places):
            codes = [frozenset(target for path, target in here.items() if posixpath.dirname(path) == directory)]
            present = known if parse_family(offer.target) is None else frozenset(here.values())
            if directory.split("/")[0] not in trees or (parse_family(offer.target) and not codes[0]):
                continue  # Trees of other targets, and what a family has no files in.
            for gap in gaps(codes, wanted_targets([offer.target], present)):
                yield report(_owner(offer, directory), directory, gap, codes)


def _owner(offer: Offer, directory: str) -> str:
    """Return the file name of the package that should have the target's files of a directory."""
    owns = [
        package for package in offer.packages if offer.target in package.name or offer.target.lower() in package.name
    ]
    there = [package for package in offer.packages if any(path.startswith(directory + "/") for path in package.files)]
    return (owns or there)[0].filename


SUITES: Final = (Suite(rules=RULES, check_set=check_set, collectors=COLLECTORS),)
