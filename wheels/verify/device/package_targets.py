"""Tells which GPU target or family a package is for, and which targets must have code in each place of a library.

    owned = owned_packages(packages)
    owned["rocm-sdk-libraries-gfx1030"].target  # gfx1030

The selector says what the packages are for that it selects. Of all others, other makers' and those that are verified
without a selector, the name tells it, if it ends in a target (`-gfx1030`) or in a family (`-gfx110x-all`). Code for
a generic target, or for fewer features, serves instead of special code.

The name of a file says which target it is for (`Kernels_gfx1100.dat`, `Kernels_gfx90a-xnack+.co`, `gfx90a68.kdb`), as
`lib.gpus.paths` reads it.
"""

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from packaging.utils import canonicalize_name

from lib.gpus.families import is_target, parse_family
from lib.gpus.paths import DATABASES, KERNELS, named_targets, target_of_distribution
from lib.gpus.target_id import GENERIC_PROCESSORS, SPIRV, TargetId, can_load, parse_target_id
from wheels.verify.device.facts import DEVICE, DeviceFacts
from wheels.verify.wheel_set.model import Package


def serves(codes: Iterable[TargetId], target: TargetId) -> bool:
    """Whether a GPU of that target can load one of the code objects."""
    return any(can_load(code, target) for code in codes)


def serves_target(codes: Iterable[TargetId], target: str) -> bool:
    """Whether a GPU of a target, or some processor of a family, can load one of the code objects."""
    family = parse_family(target)
    if family is None:
        return serves(codes, parse_target_id(target))
    covered = ((code.processor, *GENERIC_PROCESSORS.get(code.processor, ())) for code in codes)
    return any(names[0] == SPIRV or any(map(family.has, names)) for names in covered)


#: The layout in which each package has code for its targets and for no other, also where these are a family.
THIN: Final = "thin"


@dataclass(frozen=True)
class Owned:
    """Targets that a package is for."""

    target: str
    """A target or a family."""
    is_exact: bool
    """Whether it must have no other code: it is named for a target, or its layout is `thin`."""
    is_offered: bool = False
    """Whether the selector offers it."""

    def can_use(self, code: TargetId) -> bool:
        """Whether a GPU that the package is for can load such code."""
        return serves_target([code], self.target)


def owned_packages(packages: Sequence[Package]) -> dict[str, Owned]:
    """Return, by name, the target or family of each distribution that is not for all GPUs."""
    named = ((package.name, target_of_distribution(package.name)) for package in packages)
    found = {name: Owned(target, parse_family(target) is None) for name, target in named if target}
    for package in packages:
        if package.selector:
            is_thin = package.selector.layout == THIN
            for name, (_, target) in package.selector.selected().items():
                if target:
                    is_exact = is_thin or parse_family(target) is None
                    found[canonicalize_name(name)] = Owned(target.split(":")[0], is_exact, is_offered=True)
    return found


def in_scope(codes: Collection[TargetId], targets: Collection[str], known: Collection[TargetId]) -> frozenset[TargetId]:
    """Return the target IDs that a library with these codes serves, of those that its package is for.

    `targets` are targets and families, all if there are none; `known` is all that there is code for in the set. Each
    processor is taken in every form that `known` has: where other code is for both settings of XNACK, this has to be.
    """
    processors = {code.processor for code in codes} | {one.processor for one in known if serves(codes, one)}
    processors |= {target for target in targets if parse_family(target) is None and serves_target(codes, target)}
    real = {one for one in processors if one != SPIRV and (one not in GENERIC_PROCESSORS or one in targets)}
    if targets:
        real = {one for one in real if any(_is_for(one, target) for target in targets)}
    return frozenset(TargetId(one) for one in real) | frozenset(one for one in known if one.processor in real)


def unserved(codes: Collection[TargetId], targets: Iterable[str]) -> tuple[str, ...]:
    """Return the targets and families that can load none of the codes, sorted."""
    return tuple(sorted(target for target in targets if not serves_target(codes, target)))


def expanded(targets: Iterable[str], known: Collection[TargetId]) -> frozenset[str]:
    """Return the targets; a family is replaced by its processors that are known, if any is."""
    found: set[str] = set()
    for target in targets:
        family = parse_family(target)
        members = {one.processor for one in known if family and family.has(one.processor)}
        found |= members or {target}
    return frozenset(found)


def _is_for(processor: str, target: str) -> bool:
    family = parse_family(target)
    return parse_target_id(target).processor == processor if family is None else family.has(processor)


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
