"""Which packages are for one GPU target, or for one family of targets.

    owned = owned_packages(packages)
    owned["rocm-sdk-libraries-gfx1030"].target  # gfx1030

The selector says it of the packages that it selects. Of all others, other makers' and those that are verified without a
selector, the name tells it, if it ends in a target (`-gfx1030`) or in a family (`-gfx110x-all`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from packaging.utils import canonicalize_name

from tools.lib.device.target_id import TargetId, can_load, parse_target_id
from tools.lib.gpus.families import parse_family
from tools.lib.gpus.paths import target_of_distribution
from verify.device.coverage import serves_family
from verify.over_set.model import Package
from verify.over_set.selector import selected_distributions

#: The layout in which each package has code for its targets and for no other, also where these are a family.
THIN: Final = "thin"


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
        family = parse_family(self.target)
        return serves_family([code], family) if family else can_load(code, parse_target_id(self.target))


def owned_packages(packages: Sequence[Package]) -> dict[str, Owned]:
    """Return what each distribution is for that is not for all GPUs, by its name."""
    named = ((package.name, target_of_distribution(package.name)) for package in packages)
    found = {name: Owned(target, parse_family(target) is None) for name, target in named if target}
    for package in packages:
        if package.selector:
            is_thin = package.selector.layout == THIN
            for name, (_, target) in selected_distributions(package.selector).items():
                if target:
                    is_exact = is_thin or parse_family(target) is None
                    found[canonicalize_name(name)] = Owned(target.split(":")[0], is_exact, is_offered=True)
    return found
