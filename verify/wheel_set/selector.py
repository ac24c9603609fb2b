"""What the selector says about the packages that it selects: `_distributions.json`, in sdist and static wheel.

The sdist computes its requirements where it is installed, for the GPU target that it finds there. All that it can come
to require is computed here, for every target.
"""

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from verify.finding import Finding, Rule, Severity
from verify.settings import Settings
from verify.wheel_set.model import Package, Selector

FILE_NAME: Final = "_distributions.json"
#: A bigger file is something else, in bytes.
MAX_SIZE: Final = 1 << 20
#: Stands for the target in the names of packages that there are one of per target.
PER_TARGET: Final = "{target}"


def is_selector_file(path: str) -> bool:
    """Whether a path is that of the selector's data."""
    return posixpath.basename(path) == FILE_NAME


def parse_selector(distribution: str, text: bytes) -> Selector:
    """Read the data of the selector of that name. Raises ValueError when it is not what is expected."""
    try:
        document: Any = json.loads(text)
        packages = {
            str(role): {str(key): str(value) for key, value in names.items()} for role, names in _items(document)
        }
        for role, names in packages.items():
            if not names["distribution"] or not names["tree"]:
                raise ValueError(f"{role} has an empty name")
        targets = tuple(str(target) for target in document["targets"])
        layout = str(document.get("layout", ""))
        default = str(document["default_target"])
        return Selector(distribution, str(document["version"]), targets, default, packages, layout)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"expected version, targets, default_target and packages: {error!r}") from None


def _items(document: Any) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(document["packages"].items())


def named(template: str, target: str) -> str:
    """Return the name of a distribution for a target, without its features."""
    return template.replace(PER_TARGET, target.split(":")[0])


def named_tree(template: str, target: str) -> str:
    """Return the name of a tree or import package for a target: as an identifier has to be written."""
    return template.replace(PER_TARGET, re.sub(r"\W", "_", target.split(":")[0]))


def is_per_target(names: Mapping[str, str]) -> bool:
    """Whether there is one such package for each target."""
    return PER_TARGET in names["distribution"]


def selected_distributions(selector: Selector) -> dict[str, tuple[str, str]]:
    """Return every distribution that can be selected, with its role and its target (empty if it is for all)."""
    found = {}
    for role, names in selector.packages.items():
        for target in selector.targets if is_per_target(names) else ("",):
            found[named(names["distribution"], target)] = (role, target)
    return found


def selected_requirements(selector: Selector) -> dict[str, list[Requirement]]:
    """Return what each extra can come to require, of all targets together; the key "" has what is required always.

    The requirements have the extra as their marker.

    Raises ValueError when names or the version are not such as a requirement can be made of.
    """
    by_role: dict[str, list[str]] = {}
    by_target: dict[str, list[str]] = {}
    for distribution, (role, target) in selected_distributions(selector).items():
        pin = f"{distribution}=={selector.version}"
        by_role.setdefault(role, []).append(pin)
        if target:
            by_target.setdefault(target, []).append(pin)
    libraries = by_role.get("libraries", [])
    pins = {"": by_role.get("core", [])} | {role: by_role[role] for role in by_role if role not in ("core", "device")}
    if "device" in by_role:
        pins |= {"device": libraries + by_role["device"], "device-all": libraries + by_role["device"]}
        pins |= {f"device-{target}": libraries + own for target, own in by_target.items()}
    else:
        pins |= {f"libraries-{target}": own for target, own in by_target.items()}
    try:
        return {extra.lower(): [_requirement(pin, extra.lower()) for pin in wanted] for extra, wanted in pins.items()}
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
    why="`rocm_sdk` looks for libraries and programs in that directory and finds nothing.",
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
            offered |= {canonicalize_name(name) for name in selected_distributions(package.selector)}
            templates |= {names["distribution"]: package for names in package.selector.packages.values()}
    for template, selecting in sorted(templates.items(), key=lambda item: item[0]):
        if PER_TARGET in template:
            yield from _check_offered(packages, template, selecting, offered)


def _check_default(package: Package, selector: Selector) -> Iterator[Finding]:
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
    default, selected = package.selector.default_target, selected_distributions(package.selector)
    own = {canonicalize_name(name) for name, (_, target) in selected.items() if target and target == default}
    return frozenset(own - names.keys() - external)


def _check_trees(package: Package, selector: Selector, names: Mapping[str, Sequence[Package]]) -> Iterator[Finding]:
    for distribution, (role, target) in sorted(selected_distributions(selector).items()):
        templates = selector.packages[role]
        wanted = {named_tree(templates[key], target) for key in ("tree", "import") if templates.get(key)}
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
