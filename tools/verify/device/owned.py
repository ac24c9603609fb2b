"""Which packages are for one GPU target, or for one family of targets.

    owned = owned_packages(packages)
    owned["rocm-sdk-libraries-gfx1030"].target  # gfx1030

The selector says it of the packages that it selects. Of all others, other makers' and those that are verified without a
selector, the name tells it, if it ends in a target (`-gfx1030`) or in a family (`-gfx110x-all`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from packaging.utils import canonicalize_name

from tools.device.processors import GENERIC_PROCESSORS
from tools.device.target_id import TargetId, can_load, parse_target_id
from tools.verify.device.coverage import family_pattern, serves_family
from tools.verify.over_set.model import Package
from tools.verify.over_set.selector import selected_distributions

#: The layout in which each package has code for its targets and for no other, also where these are a family.
THIN: Final = "thin"
#: In normalised names (PEP 503), where the `X` of a family is a small letter.
_NAME: Final = re.compile(r"(?:.+-)?gfx([0-9][0-9a-fx]{0,4})(?:-(all|dcgpu|dgpu|igpu))?")
#: A target has so many digits, major version, minor version and stepping, or more.
_DIGITS: Final = 3


@dataclass(frozen=True)
class Owned:
    """What a package is for."""

    target: str
    """A target or a family."""
    is_exact: bool
    """Whether it is to have no other code: its name is that of a target, or its layout is `thin`."""
    is_offered: bool = False
    """Whether the selector offers it."""

    def can_use(self, code: TargetId) -> bool:
        """Whether a GPU that the package is for can load such code."""
        pattern = family_pattern(self.target)
        return can_load(code, parse_target_id(self.target)) if pattern is None else serves_family([code], pattern)


def owned_packages(packages: Sequence[Package]) -> dict[str, Owned]:
    """Return what each distribution is for that is not for all GPUs, by its name."""
    named = ((package.name, target_of_distribution(package.name)) for package in packages)
    found = {name: Owned(target, family_pattern(target) is None) for name, target in named if target}
    for package in packages:
        if package.selector:
            is_thin = package.selector.layout == THIN
            for name, (_, target) in selected_distributions(package.selector).items():
                if target:
                    is_exact = is_thin or family_pattern(target) is None
                    found[canonicalize_name(name)] = Owned(target.split(":")[0], is_exact, is_offered=True)
    return found


def target_of_distribution(name: str) -> str | None:
    """Return the target or family that the normalised name of a distribution ends in; None if it ends in none."""
    generic = [one for one in GENERIC_PROCESSORS if f"-{name}".endswith(f"-{one}")]
    if generic:
        return max(generic, key=len)
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    digits, kind = match[1].replace("x", "X"), match[2]
    if kind:
        return f"gfx{digits}-{kind}"
    return f"gfx{digits}" if len(digits) >= _DIGITS else None
