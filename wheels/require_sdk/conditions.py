"""What METADATA requires of the SDK's packages already: where it counts, it must accept the SDK.

check_required(package, "sdk-core", version)    # raises ToolError for `sdk-core<7; python_version < "3.12"`
lost_extras(package, added)                     # lines on `sdk-core<7; extra == "old"`
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from lib.common.program import ToolError
from lib.gpus.paths import target_of_distribution
from wheels.verify.wheel_set.closure import accepts, applies
from wheels.verify.wheel_set.model import Package

#: Variables of markers about the kernel of the machine that installs a wheel: nobody knows it here.
_UNKNOWN: Final = re.compile(r"\b(?:platform_release|platform_version)\b")


def counts(package: Package, requirement: Requirement, extra: str = "") -> bool:
    """Whether a requirement of a wheel counts on a machine that installs it; what depends on the kernel may."""
    if applies(requirement, extra, tags=package.tags):
        return True
    text = str(requirement.marker or "")
    return bool(_UNKNOWN.search(text)) and ("extra" in text) == bool(extra)


def check_required(package: Package, name: str, version: Version) -> list[Requirement]:
    """Return what METADATA requires of a distribution. Raises ToolError if that is another version."""
    there = [one for one in package.requires if canonicalize_name(one.name) == name and counts(package, one)]
    for one in there:
        if not accepts(one, version):
            raise ToolError(
                f"{package.filename}: METADATA requires {one}, and --sdk has version {version}. Give the wheels of "
                "the version that it requires, or build the wheel without this requirement"
            )
    return there


def check_other_gpu(package: Package, name: str) -> None:
    """Raise ToolError if METADATA requires the same package for another GPU."""
    target = target_of_distribution(name)
    for one in package.requires if target else ():
        other = target_of_distribution(canonicalize_name(one.name))
        kinds = {text.removesuffix(f"-{(word or '').lower()}") for text, word in ((name, target), (one.name, other))}
        if other and other != target and len(kinds) == 1 and counts(package, one):
            raise ToolError(
                f"{package.filename}: METADATA requires {one}, and --sdk has {name}, for another GPU. Give the "
                "packages for that GPU, or the wheel as it was before it required them"
            )


def lost_extras(package: Package, added: Sequence[Requirement], versions: Mapping[str, Version]) -> tuple[str, ...]:
    """Return lines on extras of a wheel that nobody can install with the requirements that are added to it.

    `versions` are the SDK's, by the names of these requirements.
    """
    lines = []
    for extra in sorted(package.extras):
        for one in package.requires:
            name = canonicalize_name(one.name)
            new = next((other for other in added if canonicalize_name(other.name) == name), None)
            is_lost = new is not None and not accepts(one, versions[name])
            if is_lost and counts(package, one, extra) and not counts(package, one):
                own = f"{package.name}[{extra}]"
                lines.append(f"{own} can no longer be installed: it requires {one}, and {package.name} {new}")
    return tuple(lines)
