"""What the packages of a set have: files with device code, files that are named for targets, offered targets."""

from collections.abc import Mapping, Sequence

from tools.lib.device.target_id import TargetId
from verify.device.facts import DEVICE, DeviceFacts
from verify.device.named import target_of_name
from verify.device.owned import Owned
from verify.over_set.model import Package


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


def offered_targets(packages: Sequence[Package], owned: Mapping[str, Owned]) -> frozenset[str]:
    """Return the targets and families that a selector offers, and that the set has packages for."""
    found = (owned.get(package.name) for package in packages)
    return frozenset(own.target for own in found if own and own.is_offered)
