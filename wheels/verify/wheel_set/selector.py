"""Checks that the selector and the packages of the set belong together."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from lib.common.distributions import FILE_NAME, PER_TARGET, Distributions
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.model import Package

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
        return {extra: [_requirement(pin, extra) for pin in wanted] for extra, wanted in pins.items()}
    except InvalidRequirement as error:
        raise ValueError(str(error)) from None


def _requirement(pin: str, extra: str) -> Requirement:
    return Requirement(f'{pin}; extra == "{extra}"' if extra else pin)


UNREADABLE = Rule(
    "S134",
    Severity.ERROR,
    "a distribution does not say what it is, or what it selects",
    why="Nothing that depends on it can be checked, and installing it fails.",
    remedy="Build the distribution again, with metadata and `_distributions.json` as the rules write them.",
)
NO_TREE = Rule(
    "S135",
    Severity.ERROR,
    "a package has not the tree that the selector says",
    why="Whoever looks for libraries and programs in that directory finds nothing.",
    remedy="Build the selector and the packages from the same definition.",
)
NOT_SELECTED = Rule(
    "S136",
    Severity.WARNING,
    "a package for a GPU target that the selector does not offer",
    why="Nobody who installs through the selector gets it.",
    remedy="Build the selector together with the packages, or leave the package out.",
)
TARGET = Rule(
    "S137",
    Severity.ERROR,
    "the selector's default target is none of its targets",
    why="Where no GPU is found, installing stops with an error.",
    remedy="Name one of the targets as the default.",
)
DEFAULT = Rule(
    "S138",
    Severity.ERROR,
    "the selector's default target cannot work",
    why="It is what everybody gets whose machine shows no GPU at installation, such as those who build images.",
    remedy="Name another target as the default, or publish what this one needs.",
)
RULES: Final = (UNREADABLE, NO_TREE, NOT_SELECTED, TARGET, DEFAULT)


def check_selection(
    packages: Sequence[Package], names: Mapping[str, Sequence[Package]], settings: Settings
) -> Iterator[Finding]:
    """Check each selector against the packages of the set. What else it requires, `requirements` looks at."""
    offered = set()
    templates: dict[str, Package] = {}
    for package in packages:
        if package.selector is not None:
            yield from _check_default(package, package.selector)
            for missing in sorted(missing_defaults(package, names, settings)):
                target = package.selector.default_target
                yield DEFAULT.finding(package.filename, "", f"the set has no {missing}", [target])
            yield from _check_trees(package, package.selector, names)
            offered |= {canonicalize_name(name) for name in package.selector.selected()}
            templates |= {names.distribution: package for names in package.selector.packages.values()}
    for template, selecting in sorted(templates.items(), key=lambda item: item[0]):
        if PER_TARGET in template:
            yield from _check_offered(packages, template, selecting, offered)


def _check_default(package: Package, selector: Distributions) -> Iterator[Finding]:
    default, targets = selector.default_target, selector.targets
    if default not in targets and (default or targets):
        yield TARGET.finding(package.filename, "", f"the default is {default!r}, the targets are {', '.join(targets)}")


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


def _check_trees(
    package: Package, selector: Distributions, names: Mapping[str, Sequence[Package]]
) -> Iterator[Finding]:
    for distribution, (role, target) in sorted(selector.selected().items()):
        called = selector.packages[role].for_target(target)
        wanted = {name for name in (called.tree, called.import_name) if name}
        for one in names.get(canonicalize_name(distribution), ()):
            has = {path.split("/")[0] for path in one.files} | ({one.devel.tree} if one.devel else set())
            for missing in sorted(wanted - has) if one.files else ():  # W101 says why there are no files.
                evidence = f"{package.filename} says that it has {missing}/; it has {', '.join(sorted(has))}"
                yield NO_TREE.finding(one.filename, "", evidence)


def _check_offered(
    packages: Sequence[Package], template: str, selecting: Package, offered: Collection[str]
) -> Iterator[Finding]:
    pattern = re.escape(canonicalize_name(template.replace(PER_TARGET, "0"))).replace("0", "gfx.+")
    for package in packages:
        if re.fullmatch(pattern, package.name) and package.name not in offered:
            evidence = (
                f"{selecting.filename} offers {', '.join(selecting.selector.targets if selecting.selector else ())}"
            )
            yield NOT_SELECTED.finding(package.filename, "", evidence)
