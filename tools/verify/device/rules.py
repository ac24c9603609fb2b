"""The rules about device code, and how a gap of it is reported."""

from collections.abc import Collection, Sequence
from typing import Final

from tools.device.target_id import TargetId
from tools.verify.device.coverage import Gap
from tools.verify.finding import Finding, Rule, Severity

NO_CODE: Final = Rule(
    "D101",
    Severity.ERROR,
    "an offered GPU target has no device code",
    why="On such a GPU the library fails when it is used (hipErrorNoBinaryForGpu), although it was installed for it.",
    remedy="Build the library for this target as well, or do not offer the target.",
)
NO_VARIANT: Final = Rule(
    "D102",
    Severity.ERROR,
    "device code is there only for other features of the GPU",
    why="Code for xnack+ does not run where XNACK is off, nor the other way round; other code of the set is for both.",
    remedy="Build the library for this form of the target as well, or without the feature: that runs on both.",
)
UNEVEN: Final = Rule(
    "D103",
    Severity.ERROR,
    "a bundle lacks a target that others of its library have",
    why="Kernels of this bundle fail on such a GPU, while others of the library work.",
    remedy="Build all of the library for the same targets.",
)
DAMAGED: Final = Rule(
    "D104",
    Severity.ERROR,
    "device code cannot be read",
    why="HIP cannot load it either.",
    remedy="Build the library again; see whether a tool has edited it since.",
)
WRONG_PACKAGE: Final = Rule(
    "D105",
    Severity.ERROR,
    "device code for another target than its package is for",
    why="Who installs the package for the one GPU does not need it, and who has the other does not get it.",
    remedy="Move the file to the package of its target.",
)
NO_ARCHIVE: Final = Rule(
    "D106",
    Severity.ERROR,
    "a library's archive of device code is missing for an offered GPU target",
    why="The library's code was split off into .kpack archives; the one for this GPU is not where HIP looks.",
    remedy="Ship the archive in the package of the target, at this path.",
)
OTHER_CODE: Final = Rule(
    "D107",
    Severity.WARNING,
    "device code that no GPU can load which the package is for",
    why="The package is to have code for certain GPUs and no other: all the rest is downloaded for nothing.",
    remedy="Slice the library for the target of its package, as the layout `thin` does, or build it for that alone.",
)
MISSING_LIBRARY: Final = Rule(
    "D108",
    Severity.WARNING,
    "a library, or data for the GPU, that the packages of other targets have",
    why="These packages differ in nothing but the target: programs expect the same of each, whatever the GPU.",
    remedy="Make all of these packages from the same artifacts. If there is no code for the GPU, declare an exception.",
)
OTHER_FAMILY: Final = Rule(
    "D109",
    Severity.NOTE,
    "device code for GPUs outside of the family that the package is for",
    why="Libraries for a family are often built for more targets than its name says: it all has to be downloaded.",
    remedy="Build the libraries for the targets of the family, or slice them, as the layout `thin` does.",
)
RULES: Final = (
    NO_CODE,
    NO_VARIANT,
    UNEVEN,
    DAMAGED,
    WRONG_PACKAGE,
    NO_ARCHIVE,
    OTHER_CODE,
    MISSING_LIBRARY,
    OTHER_FAMILY,
)


def report(filename: str, path: str, gap: Gap, bundles: Sequence[frozenset[TargetId]]) -> Finding:
    """Report that some or all bundles of a library, or the files of a directory, lack code for a target."""
    has = listed(frozenset().union(*bundles))
    if gap.everywhere:
        rule = NO_VARIANT if gap.is_variant else NO_CODE
        return rule.finding(filename, path, f"no code that {gap.target} can load; there is code for {has}")
    numbers = ", ".join(str(number + 1) for number in gap.bundles[:5]) + (", …" if len(gap.bundles) > 5 else "")
    evidence = f"{len(gap.bundles)} of {len(bundles)} bundles ({numbers}) have no code that {gap.target} can load"
    return UNEVEN.finding(filename, path, evidence)


def listed(targets: Collection[TargetId]) -> str:
    """Return target IDs for people."""
    return ", ".join(str(one) for one in sorted(targets)) or "none"
