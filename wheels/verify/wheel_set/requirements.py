"""Checks that whatever is required can be had: from the set itself, or from elsewhere if that is declared."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from lib.common.distributions import FILE_NAME, Distributions
from wheels.verify.finding import Finding, Rule
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.closure import applies, candidates
from wheels.verify.wheel_set.model import Package

UNSATISFIED = Rule(
    "S131",
    "a requirement cannot be satisfied",
    why="Installing the distribution fails, or fetches something else of that name.",
    remedy="Name what is required as well, or check the wheel alone (--no-set). Declare in external_requirements what "
    "comes from elsewhere.",
)
NO_EXTRA = Rule(
    "S132",
    "a requirement names an extra that does not exist",
    why="Installers warn, and go on without what the extra should bring.",
    remedy="Correct the name of the extra, or let the distribution offer it.",
)


def check_requirements(
    packages: Sequence[Package], names: Mapping[str, Sequence[Package]], settings: Settings
) -> Iterator[Finding]:
    """Check what each package requires always, and with each of its extras."""
    external = {canonicalize_name(name) for name in settings.external_requirements}
    for package in packages:
        said = missing_defaults(package, names, settings) | external  # S138 says that these are missing.
        for extra, requirement in _wanted(package):
            if canonicalize_name(requirement.name) not in said:
                yield from _check(package, extra, requirement, names)


def _wanted(package: Package) -> Iterator[tuple[str, Requirement]]:
    """Yield what is required, each requirement once, with the first extra that needs it (or none)."""
    for requirement in package.requires:
        extras = ("", *sorted(package.extras))
        extra = next((extra for extra in extras if applies(requirement, extra, is_windows=package.is_windows)), None)
        if extra is not None:
            yield extra, requirement


def _check(
    package: Package, extra: str, requirement: Requirement, names: Mapping[str, Sequence[Package]]
) -> Iterator[Finding]:
    found = candidates(requirement, names)
    said = _said(requirement, extra)
    if not found:
        there = names.get(canonicalize_name(requirement.name), ())
        has = "has " + ", ".join(sorted({str(one.version) for one in there})) if there else "has no such distribution"
        yield UNSATISFIED.finding(package.filename, "", f"requires {said}, and the set {has}")
    for wanted in sorted(canonicalize_name(one) for one in requirement.extras):
        if found and not any(wanted in one.extras for one in found):
            offered = ", ".join(sorted(set().union(*(one.extras for one in found)))) or "none"
            yield NO_EXTRA.finding(package.filename, "", f"requires {said}, and its extras are: {offered}")


def _said(requirement: Requirement, extra: str) -> str:
    wanted = str(requirement).partition(";")[0].strip()
    return f"{wanted} (extra {extra})" if extra else wanted


#: A bigger file is something else, in bytes.
MAX_SIZE: Final = 1 << 20


def is_selector_file(path: str) -> bool:
    """Whether a path names the selector's data."""
    return posixpath.basename(path) == FILE_NAME


def selected_requirements(selector: Distributions) -> dict[str, list[Requirement]]:
    """Return what each extra can come to require, of all targets together; the key "" has what is required always.

    The requirements have the extra as their marker.

    Raises ValueError when names or the version are not such as a requirement can be made of.
    """
    pins = {extra.lower(): wanted for extra, wanted in selector.pins().items()}
    try:
        return {extra: [_pinned(pin, extra) for pin in wanted] for extra, wanted in pins.items()}
    except InvalidRequirement as error:
        raise ValueError(str(error)) from None


def _pinned(pin: str, extra: str) -> Requirement:
    name, _, marker = pin.partition("; ")
    markers = [*([f"({marker})"] if marker else []), *([f'extra == "{extra}"'] if extra else [])]
    return Requirement("; ".join([name, *([" and ".join(markers)] if markers else [])]))


UNREADABLE = Rule(
    "S134",
    "metadata of a distribution, or data of the selector, cannot be read",
    why="Nothing that depends on it can be checked, and installing it fails.",
    remedy="Build the distribution again, with metadata and `_distributions.json` as the rules write them.",
)
DEFAULT_TARGET = Rule(
    "S138",
    "the selector's default target cannot work",
    why="Everybody gets it who installs on a machine without a visible GPU, for example in the build of an image.",
    remedy="Name another target as the default, or publish what this one needs.",
)


def check_selection(
    packages: Sequence[Package], names: Mapping[str, Sequence[Package]], settings: Settings
) -> Iterator[Finding]:
    """Check each selector against the packages of the set. What else it requires, `requirements` looks at."""
    for package in packages:
        if package.selector is not None:
            for missing in sorted(missing_defaults(package, names, settings)):
                target = package.selector.default_target
                yield DEFAULT_TARGET.finding(package.filename, "", f"the set has no {missing}", [target])


def missing_defaults(
    package: Package, names: Mapping[str, Sequence[Package]], settings: Settings
) -> frozenset[NormalizedName]:
    """Return the packages for the default target that the set does not have, and that come from nowhere else."""
    if package.selector is None:
        return frozenset()
    external = {canonicalize_name(name) for name in settings.external_requirements}
    default, selected = package.selector.default_target, package.selector.selected()
    own = {canonicalize_name(name) for name, (_, target) in selected.items() if target and target == default}
    return frozenset(own - names.keys() - external)
