"""Selects the packages of a set that a machine with one GPU target gets: those for the target, and those for all GPUs.

    chosen = choose(distributions, "gfx942")
    chosen.distributions   # without the packages for gfx1100, and without acme 1.0+gfx1100

The end of a package's name says whom it is for (`rocm-sdk-device-gfx942`). In split wheels, the end of the local
version says it (`acme-1.0+gfx942`).
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from packaging.utils import canonicalize_name

from lib.common.program import ToolError
from lib.gpus.families import is_target
from lib.gpus.paths import is_package_for, target_of_distribution, target_of_local_version
from wheels.verify.finding import Finding, Rule
from wheels.verify.model import DistributionSet, Wheel
from wheels.verify.settings import Settings

NOTHING: Final = Rule(
    "S140",
    "a distribution has wheels for other GPU targets than the chosen one",
    why="It cannot be installed on a machine with such a GPU, or is installed without device code.",
    remedy="Build it for this target as well, or do not choose the target for this set.",
)


@dataclass(frozen=True)
class Chosen:
    """Packages of a set for one target, with the settings for it, and errors in the choice."""

    distributions: DistributionSet
    settings: Settings
    findings: tuple[Finding, ...] = ()


def choose(distributions: DistributionSet, target: str, settings: Settings) -> Chosen:
    """Return what is installed on a machine with a GPU target. What is left out counts as available elsewhere.

    Raises ToolError for a word that is not a target.
    """
    if not is_target(target):
        raise ToolError(
            f"target {target!r} is not a GPU target; expected one without features, such as gfx942. Name the GPU of a "
            "machine: a set is installed for one"
        )
    kept = tuple(wheel for wheel in distributions.wheels if is_for(wheel, target))
    names = {wheel.name for wheel in kept}
    left_out = sorted({str(one.name) for one in distributions.wheels if one.name is not None} - {*map(str, names)})
    return Chosen(
        replace(distributions, wheels=kept, target=target),
        replace(settings, external_requirements=(*settings.external_requirements, *left_out)),
        tuple(_lacking(distributions, target)),
    )


def alternatives(distributions: DistributionSet) -> dict[str, list[str]]:
    """Return the distributions that have wheels for several targets in one name, each with these targets."""
    found = defaultdict(set)
    for wheel in distributions.wheels:
        word = target_of_local_version(wheel.version.local) if wheel.version else None
        if word:
            found[str(wheel.name)].add(word)
    return {name: sorted(words) for name, words in sorted(found.items()) if len(words) > 1}


def check_unambiguous(distributions: DistributionSet) -> None:
    """Raise ToolError if only a chosen target says which wheels are installed together."""
    for name, words in alternatives(distributions).items():
        raise ToolError(
            f"{name}: the set has wheels for {', '.join(words)}, of which one is installed; choose a GPU with "
            "`targets` of sdk_wheel_set_test, or with --target"
        )


def word_of(wheel: Wheel) -> str | None:
    """Return the target or family that a wheel is for; None if it is for all GPUs."""
    by_version = target_of_local_version(wheel.version.local) if wheel.version else None
    return by_version or (target_of_distribution(wheel.name) if wheel.name else None)


def is_for(wheel: Wheel, target: str) -> bool:
    """Whether a wheel is installed on a machine with a GPU of that target."""
    word = word_of(wheel)
    return word is None or is_package_for(word, target)


def _lacking(distributions: DistributionSet, target: str) -> Iterator[Finding]:
    """Report what there is for other targets alone."""
    words: dict[str, set[str]] = defaultdict(set)
    served = set()
    for wheel in distributions.wheels:
        word = word_of(wheel)
        if word is not None:
            kind = str(wheel.name).removesuffix(f"-{canonicalize_name(word)}")
            words[kind].add(word)
            served |= {kind} if is_package_for(word, target) else set()
    for kind in sorted(words.keys() - served):
        evidence = f"{kind}: the set has wheels for {', '.join(sorted(words[kind]))}"
        yield NOTHING.finding("", "", evidence, [target])
