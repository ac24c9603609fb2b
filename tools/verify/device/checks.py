"""D101 to D106: every GPU target that the set is for has its device code in each library that has any.

Device code comes in bundles inside libraries, in files that are named for a target, or split off into `.kpack`
archives. The targets are those that the selector offers; without one, only the bundles of each library are compared
with each other.
"""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Final

from tools.device.target_id import TargetId, parse_target_id
from tools.verify.device.archives import check_archives
from tools.verify.device.coverage import family_pattern, gaps, serves, serves_family, wanted_targets
from tools.verify.device.facts import COLLECTORS
from tools.verify.device.offers import Offer, device_files, find_offers, known_targets, named_files, targets_of_packages
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
    owned = targets_of_packages(packages)
    offers = find_offers(packages, owned)
    for package in packages:
        targets = [owned[package.name]] if package.name in owned else [offer.target for offer in offers]
        yield from _check_libraries(package, targets, known)
        if package.name in owned:
            yield from _check_owner(package, owned[package.name])
    yield from _check_named(offers, known)
    yield from check_archives(packages, offers, known)


def _check_libraries(package: Package, targets: Sequence[str], known: frozenset[TargetId]) -> Iterator[Finding]:
    """Check the bundles inside the libraries of one package.

    Of a family the processors are wanted that the package itself has code for, in whatever file.
    """
    own = set(named_files(package).values())
    for facts in device_files(package).values():
        own.update(*facts.bundles)
    families = {target: pattern for target in targets if (pattern := family_pattern(target)) is not None}
    others = {one for one in known if not any(pattern.fullmatch(one.processor) for pattern in families.values())}
    wanted = wanted_targets(targets, own | others)
    for path, facts in device_files(package).items():
        if facts.bundles:
            codes = frozenset().union(*facts.bundles)
            without = {name: pattern for name, pattern in families.items() if not serves_family(codes, pattern)}
            for family in sorted(without):
                evidence = f"no code for any GPU of {family}; there is code for {listed(codes)}"
                yield NO_CODE.finding(package.filename, path, evidence)
            every = {*wanted, *(TargetId(one.processor) for one in codes)}
            missed = {one for one in every if any(it.fullmatch(one.processor) for it in without.values())}
            for gap in gaps(facts.bundles, every - missed):
                yield report(package.filename, path, gap, facts.bundles)


def _check_owner(package: Package, target: str) -> Iterator[Finding]:
    pattern = family_pattern(target)
    processor = None if pattern else parse_target_id(target).processor
    for path, found in named_files(package).items():
        if not (pattern.fullmatch(found.processor) if pattern else serves([found], TargetId(processor or ""))):
            yield WRONG_PACKAGE.finding(package.filename, path, f"is for {found}, the package for {target}")


def _check_named(offers: Sequence[Offer], known: frozenset[TargetId]) -> Iterator[Finding]:
    """Check the directories with files that are named for targets: each offered target needs some in each."""
    places: dict[str, set[str]] = {}
    for offer in offers:
        for package in offer.packages:
            for path in named_files(package):
                places.setdefault(posixpath.dirname(path), set()).add(package.filename)
    for offer in offers:
        here = {path: target for package in offer.packages for path, target in named_files(package).items()}
        for directory in sorted(places):
            codes = [frozenset(target for path, target in here.items() if posixpath.dirname(path) == directory)]
            present = known if family_pattern(offer.target) is None else frozenset(here.values())
            if family_pattern(offer.target) and not codes[0]:
                continue  # Trees of other families.
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
