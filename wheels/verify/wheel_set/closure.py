"""Computes which distributions come with one: its requirements, their requirements, and so on.

Of several wheels of one name, one is installed: the wheel with the tags of the package that requires it, else
the first by file name.
"""

import platform
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import canonicalize_name

from lib.wheel.machines import PYTHONS, Machine, accepts, has_python, holds
from wheels.verify.wheel_set.model import Package
from wheels.verify.windows import is_for_windows


def by_name(packages: Iterable[Package]) -> dict[str, list[Package]]:
    """Return the distributions by their names."""
    found: dict[str, list[Package]] = {}
    for package in packages:
        found.setdefault(package.name, []).append(package)
    return found


def applies(requirement: Requirement, extra: str = "", *, is_windows: bool = False, tags: Collection[Tag] = ()) -> bool:
    """Whether a requirement counts on Linux, or Windows, for any of the Pythons, when an extra is wished for.

    With the `tags` of the wheel that has it, only its own Pythons and machines count, whatever this one is.
    """
    if requirement.marker is None:
        return not extra
    system, marker = "Windows" if is_windows else "Linux", str(requirement.marker)
    pythons = [python for python in PYTHONS if not tags or any(has_python(tag, python) for tag in tags)] or PYTHONS
    processors = _machines(tags) or ["x86_64" if is_windows else platform.machine()]
    return any(holds(marker, extra, Machine(python, system, one)) for python in pythons for one in processors)


def _machines(tags: Collection[Tag]) -> list[str]:
    """Return what the machines are called that wheels with these tags run on; none if on any."""
    found = {match[0] for tag in tags if (match := re.search(r"(?:x86_64|[a-z0-9]+)$", tag.platform))}
    return sorted(found - {"any"})


def meant_for(packages: Sequence[Package]) -> list[Package]:
    """Return the packages that are meant to be installed on the system that these are looked at for.

    On Windows that is what is for Windows alone, and what is for any platform if the one requires the other: whoever
    publishes for Linux what requires packages for Linux does not promise them for Windows.
    """
    names = {package.name for package in packages if is_for_windows(package.tags)}
    meant = [package for package in packages if not package.is_windows or package.name in names]
    others = [package for package in packages if package not in meant]
    while found := [one for one in others if _requires(one, names) or any(_requires(it, {one.name}) for it in meant)]:
        meant += found
        names |= {one.name for one in found}
        others = [one for one in others if one not in found]
    return [package for package in packages if package in meant]


def _requires(package: Package, names: Collection[str]) -> bool:
    return any(canonicalize_name(one.name) in names for one in package.requires)


def candidates(requirement: Requirement, packages: Mapping[str, Sequence[Package]]) -> list[Package]:
    """Return the distributions of the set that satisfy a requirement; development versions count."""
    found = packages.get(canonicalize_name(requirement.name), ())
    return [one for one in found if accepts(requirement, one.version)]


def closure(package: Package, packages: Mapping[str, Sequence[Package]]) -> tuple[Package, ...]:
    """Return the package and all that it requires, as far as the set has it; extras that requirements name count.

    The first is the package itself, the others are sorted by file name.
    """
    chosen = {package.name: package}
    wanted = [(package, "")]
    seen = set()
    while wanted:
        current, extra = wanted.pop()
        if (current.name, extra) in seen:
            continue
        seen.add((current.name, extra))
        for requirement in current.requires:
            if applies(requirement, extra, is_windows=package.is_windows):
                wanted += _chosen(requirement, current, chosen, packages)
    others = sorted((one for one in chosen.values() if one is not package), key=lambda one: one.filename)
    return (package, *others)


def _chosen(
    requirement: Requirement, by: Package, chosen: dict[str, Package], packages: Mapping[str, Sequence[Package]]
) -> Iterator[tuple[Package, str]]:
    """Add what serves a requirement; yield it with the extras that are asked of it."""
    name = canonicalize_name(requirement.name)
    if name not in chosen:
        found = candidates(requirement, packages)
        if not found:
            return
        chosen[name] = min(found, key=lambda one: (not one.is_wheel, not one.tags & by.tags, one.filename))
    yield chosen[name], ""
    for extra in sorted(requirement.extras):
        yield chosen[name], canonicalize_name(extra)


def circles(graph: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield circles, each as a list in which every one needs the next, and the last the first.

    `graph` has, for each, what it needs. A circle that was yielded is broken at its first step, and the next one looked
    for, until none is left: of circles that share that step, one is yielded.
    """
    left = {node: list(needs) for node, needs in graph.items()}
    while True:
        try:
            TopologicalSorter(left).prepare()
            return
        except CycleError as error:
            # Each is needed by the next; the first stands at the end again.
            found: list[str] = error.args[1][::-1]
            left[found[0]].remove(found[1])
            yield found[:-1]
