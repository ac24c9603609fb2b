"""What is offered: GPU targets, and the packages and device code that are there when one is installed.

The selector says which targets there are, and which packages are for one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.device.target_id import TargetId
from tools.verify.device.facts import DEVICE, DeviceFacts
from tools.verify.device.named import target_of_name
from tools.verify.device.owned import Owned
from tools.verify.over_set.closure import by_name, closure
from tools.verify.over_set.model import Package


@dataclass(frozen=True)
class Offer:
    """A target that is offered, and the packages that are there when it is installed for it."""

    target: str
    packages: tuple[Package, ...]


def device_files(package: Package) -> dict[str, DeviceFacts]:
    """Return the files of a package that have device code inside, sorted."""
    found = {path: facts.collected.get(DEVICE) for path, facts in package.files.items()}
    return {path: facts for path, facts in sorted(found.items()) if isinstance(facts, DeviceFacts)}


def named_files(package: Package) -> dict[str, TargetId]:
    """Return the files of a package that are named for a target, sorted."""
    found = {path: target_of_name(path) for path in sorted(package.files)}
    return {path: target for path, target in found.items() if target is not None}


def known_targets(packages: Sequence[Package]) -> frozenset[TargetId]:
    """Return every target that there is code for, anywhere."""
    found: set[TargetId] = set()
    for package in packages:
        found.update(named_files(package).values())
        for facts in device_files(package).values():
            found.update(*facts.bundles, *facts.archive.values())
    return frozenset(found)


def find_offers(packages: Sequence[Package], owned: Mapping[str, Owned]) -> list[Offer]:
    """Return the offered targets, each with what is installed for it: packages for all, and its own with theirs."""
    names = by_name(packages)
    for_all = [package for package in packages if package.name not in owned]
    offered = {name: own.target for name, own in owned.items() if own.is_offered}
    offers = []
    for target in sorted(set(offered.values())):
        own = [package for package in packages if offered.get(package.name) == target]
        together = {one.filename: one for package in own for one in closure(package, names)}
        together |= {package.filename: package for package in for_all}
        if own:  # S131 says so where there is none.
            offers.append(Offer(target, tuple(together[name] for name in sorted(together))))
    return offers
