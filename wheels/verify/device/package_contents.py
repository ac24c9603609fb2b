"""What the packages of a set have: files with device code, files that are named for targets, offered targets.

What a name says (`Kernels_gfx1100.dat`, `Kernels_gfx90a-xnack+.co`, `gfx90a68.kdb`), `lib.gpus.paths` knows; here
is which files are asked.
"""

import posixpath
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from lib.gpus.families import is_target
from lib.gpus.gpu_files import DATABASES, KERNELS
from lib.gpus.paths import named_targets
from lib.gpus.target_id import GENERIC_PROCESSORS, TargetId
from wheels.verify.device.facts import DEVICE, DeviceFacts
from wheels.verify.device.package_targets import Owned
from wheels.verify.wheel_set.model import Package

#: Suffixes of files that are for the target in their name, databases apart. What is a bundle is found by its content,
#: whatever its suffix. require-sdk asks here, too.
SUFFIXES: Final = tuple(suffix for suffix in KERNELS if suffix not in DATABASES)


def target_of_name(path: str) -> TargetId | None:
    """Return the target that the name of a file says that it is for; None if it says none, or several."""
    name = posixpath.basename(path)
    found = named_targets(name) if name.endswith(SUFFIXES) else ()
    if len(found) != 1 or not (is_target(found[0].processor) or found[0].processor in GENERIC_PROCESSORS):
        return None
    return found[0]


def target_of_database(path: str, processors: Collection[str]) -> TargetId | None:
    """Return the target of a database of MIOpen's, by its name; None if it names none of the processors."""
    name = posixpath.basename(path)
    found = named_targets(name, processors) if name.endswith(DATABASES) and name.startswith("gfx") else ()
    return found[0] if len(found) == 1 and found[0].processor in processors else None


def device_files(package: Package) -> dict[str, DeviceFacts]:
    """Return the files of a package that have device code inside, sorted; DLLs in packages for Linux are data."""
    of_system = ((path, facts) for path, facts in package.files.items() if package.is_windows or facts.pe is None)
    found = {path: facts.collected.get(DEVICE) for path, facts in of_system}
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
