"""Checks that whatever is required can be had: from the set itself, or from elsewhere if that is declared."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from lib.common.distributions import FILE_NAME, PER_TARGET, Distributions
from lib.gpus.paths import split_local_version
from lib.wheel.machines import accepts
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.closure import applies, candidates, circles
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
CONFLICT = Rule(
    "S133",
    "requirements contradict each other",
    why="No version satisfies all that are installed together: installing fails.",
    remedy="Require the same versions everywhere.",
)
CIRCLE = Rule(
    "S142",
    "a distribution that requires itself, or extras that require each other in a circle",
    why="Installers loop: some end with a recursion error, and install nothing.",
    remedy="Let extras require only packages, or other extras without a circle.",
)
ORDER = Rule(
    "S143",
    "local versions that installers sort otherwise than by their numbers",
    severity=Severity.WARNING,
    why="A part of a local version with a letter is compared as text (PEP 440): acme7.15 is newer than acme10.1, and "
    "upgrading installs the older one.",
    remedy="Separate number and letters, +acme.10.1, or do not publish both in one index.",
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
        for extra in ("", *sorted(package.extras)):
            yield from _conflicts(package, extra, names)
        yield from _circles(package)
    for name in sorted({package.name for package in packages}):
        yield from _order(names[name])


def _circles(package: Package) -> Iterator[Finding]:
    """Look at what a package requires of itself: always, nothing; by an extra, other extras."""
    graph: dict[str, list[str]] = {}
    for extra in ("", *sorted(package.extras)):
        own = [
            one
            for one in package.requires
            if canonicalize_name(one.name) == package.name and applies(one, extra, is_windows=package.is_windows)
        ]
        if not extra and own:
            yield CIRCLE.finding(package.filename, "", f"requires {own[0]}, which it is")
        elif extra:
            graph[extra] = sorted({canonicalize_name(wanted) for one in own for wanted in one.extras})
    for circle in circles(graph):
        steps = " -> ".join(f"{package.name}[{extra}]" for extra in [*circle, circle[0]])
        yield CIRCLE.finding(package.filename, "", steps)


def _order(packages: Sequence[Package]) -> Iterator[Finding]:
    """Check that versions which differ only in their local part are in the order of the numbers in it."""
    together: dict[str, dict[Version, Package]] = {}
    for package in packages:
        local, _ = split_local_version(package.version.local)  # GPUs are alternatives: none is newer.
        if local:
            together.setdefault(package.version.public, {})[Version(f"{package.version.public}+{local}")] = package
    for same in together.values():
        newest, first = max(same, key=_numbers), max(same)
        if newest < first:
            yield ORDER.finding(same[newest].filename, "", f"+{newest.local} is older than +{first.local}")


def _numbers(version: Version) -> list[tuple[bool, int, str]]:
    """Return the parts of a local version, split between letters and digits too: numbers by value, after words."""
    parts = re.findall(r"\d+|[a-z]+", version.local or "")
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


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


def _conflicts(package: Package, extra: str, names: Mapping[str, Sequence[Package]]) -> Iterator[Finding]:
    """Look for names of which no version of the set satisfies all requirements that one extra brings together."""
    wanted = _together(package, extra, names)
    for name, requirements in sorted(wanted.items()):
        if extra and not any(
            by.name == package.name and applies(one, extra, is_windows=by.is_windows) for by, one in requirements
        ):
            continue  # Nothing of this extra: said of the package as a whole.
        there = names.get(name, ())
        each = all(candidates(one, names) for _, one in requirements)
        if there and each and not any(all(accepts(one, it.version) for _, one in requirements) for it in there):
            said = "; ".join(sorted({f"{by.name} wants {one.name}{one.specifier}" for by, one in requirements}))
            yield CONFLICT.finding(package.filename, "", said + (f" (extra {extra})" if extra else ""))


def _together(
    package: Package, extra: str, names: Mapping[str, Sequence[Package]]
) -> dict[str, list[tuple[Package, Requirement]]]:
    """Return the requirements, by name, of all that is installed with a package and one of its extras."""
    found: dict[str, list[tuple[Package, Requirement]]] = {}
    is_windows = package.is_windows
    queue = [
        (package, one)
        for one in package.requires
        if applies(one, is_windows=is_windows) or (extra and applies(one, extra, is_windows=is_windows))
    ]
    seen = set()
    while queue:
        by, requirement = queue.pop()
        if (by.filename, str(requirement)) in seen:
            continue
        seen.add((by.filename, str(requirement)))
        found.setdefault(canonicalize_name(requirement.name), []).append((by, requirement))
        for chosen in candidates(requirement, names)[:1]:
            queue += [(chosen, one) for one in chosen.requires if applies(one, is_windows=is_windows)]
    return found


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
    return Requirement(f'{pin}; extra == "{extra}"' if extra else pin)


UNREADABLE = Rule(
    "S134",
    "metadata of a distribution, or data of the selector, cannot be read",
    why="Nothing that depends on it can be checked, and installing it fails.",
    remedy="Build the distribution again, with metadata and `_distributions.json` as the rules write them.",
)
NO_TREE = Rule(
    "S135",
    "a package lacks the tree that the selector names",
    why="Programs that look for libraries in that directory find nothing.",
    remedy="Build the selector and the packages from the same definition.",
)
NOT_SELECTED = Rule(
    "S136",
    "a package for a GPU target that the selector does not offer",
    severity=Severity.WARNING,
    why="Nobody who installs through the selector gets it.",
    remedy="Build the selector together with the packages, or leave the package out.",
)
TARGET = Rule(
    "S137",
    "the selector's default target is none of its targets",
    why="Where no GPU is found, installing stops with an error.",
    remedy="Name one of the targets as the default.",
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
    offered = set()
    templates: dict[str, Package] = {}
    for package in packages:
        if package.selector is not None:
            yield from _check_default(package, package.selector)
            for missing in sorted(missing_defaults(package, names, settings)):
                target = package.selector.default_target
                yield DEFAULT_TARGET.finding(package.filename, "", f"the set has no {missing}", [target])
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
