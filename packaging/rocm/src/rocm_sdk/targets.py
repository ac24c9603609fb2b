"""Chooses the GPU target: from the environment, else from the machine's GPUs, else the build's default.

`select_target` is a pure function of its arguments: the same inputs give the same answer in the sdist's build backend,
which calls it at install time, and in the installed runtime, which reports when the answer has changed.
`selection_in_effect` is what processes go by.

Targets are LLVM AMDGPU target IDs (`gfx942`, `gfx950:xnack+`) or families of them (`gfx94X-dcgpu`, `gfx110X-all`): what
these mean, `rocm_sdk.gpus` knows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

from .distributions import Distributions, load_selection
from .errors import TargetError
from .gpus.families import package_owner, parse_family, without_features

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .detect import Gpu

ENVIRONMENT_VARIABLE = "ROCM_SDK_TARGET_FAMILY"

#: The targets that there is code for in a family's package, by the family's name, where the build knows.
Members = Mapping[str, Collection[str]]
NO_MEMBERS: Members = MappingProxyType({})


@dataclass(frozen=True)
class Selection:
    """The chosen target; `source` is `environment`, `detection` or `default`, `reason` says it in a sentence."""

    target: str
    source: str
    reason: str


def select_target(
    available: Sequence[str],
    default: str,
    environ: Mapping[str, str],
    gpus: Sequence[Gpu] = (),
    members: Members = NO_MEMBERS,
) -> Selection:
    """Choose among the `available` targets.

    `gpus` are the machine's in order of preference; the first for which there is a package decides. Raises TargetError
    if the environment variable asks for a target that is not there.
    """
    wanted = environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if wanted:
        return _from_environment(wanted, available, members)
    for gpu in gpus:
        target = match_target(gpu.target, available, members)
        if target is not None:
            return Selection(target, "detection", f"{gpu.describe()} is served by {target}")
    if gpus:
        found = ", ".join(gpu.target for gpu in gpus)
        return Selection(default, "default", f"no package serves the GPUs of this machine ({found})")
    return Selection(default, "default", "no AMD GPU was found")


def selection_in_effect(known: Distributions) -> Mapping[str, Any] | None:
    """Return the choice that processes go by here: the environment variable's, else the one made at installation.

    None if there is neither. Raises TargetError if the variable asks for a target that is not there.
    """
    wanted = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if wanted and known.targets:
        return asdict(_from_environment(wanted, known.targets, known.members))
    return load_selection()


def match_target(wanted: str, available: Sequence[str], members: Members = NO_MEMBERS) -> str | None:
    """Return the available target that serves the target ID or family `wanted`, or None.

    In this order: the same name; the same name without features; the target whose package holds its code; the family
    that has it, the narrowest first; a family of the same targets under another name. Ties go to the first in
    `available`. A family with `members` serves these and no others.
    """
    base = without_features(wanted)
    for name in (wanted, base, package_owner(wanted)):
        if name in available:
            return name
    family = parse_family(base)
    ranked = []
    for index, name in enumerate(available):
        offered = parse_family(name)
        if offered and base in members.get(name, (base,)):
            is_same = family is not None and family.means_the_same(offered)
            if is_same or offered.has(base):
                ranked.append((offered.open_digits, index))
    return available[min(ranked)[1]] if ranked else None


def _from_environment(wanted: str, available: Sequence[str], members: Members) -> Selection:
    # The names of extras are in lower case, so people write families like that.
    target = match_target(re.sub(r"(?<=\d)x", "X", wanted.lower()), available, members)
    if target is None:
        raise TargetError(
            f"{ENVIRONMENT_VARIABLE}={wanted}: there is no package for this target. "
            f"Available: {', '.join(available)}. Set {ENVIRONMENT_VARIABLE} to one of these, or unset it to let the "
            "machine's GPU decide."
        )
    served = "" if target == wanted else f", served by {target}"
    return Selection(target, "environment", f"{ENVIRONMENT_VARIABLE} is {wanted}{served}")
