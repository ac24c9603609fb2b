"""The rules about device code, and how a gap of it is reported."""

from collections.abc import Collection
from typing import Final

from lib.gpus.target_id import TargetId
from wheels.verify.finding import Rule, Severity

NO_CODE: Final = Rule(
    "D101",
    "a library has no device code for a GPU target that it should have code for",
    why="On such a GPU the library fails when it is used (hipErrorNoBinaryForGpu), although it was installed for it.",
    remedy="Build the library for this target as well.",
)
NO_VARIANT: Final = Rule(
    "D102",
    "device code is there only for other features of the GPU",
    why="Code for xnack+ does not run where XNACK is off, nor the other way round; other code of the set is for both.",
    remedy="Build the library for this form of the target as well, or without the feature: that runs on both.",
)
UNEVEN: Final = Rule(
    "D103",
    "a part of a library lacks a target that other parts have",
    why="Kernels of this bundle, or of these files, fail on such a GPU, while others of the library work.",
    remedy="Build all of the library for the same targets.",
)
DAMAGED: Final = Rule(
    "D104",
    "device code cannot be read",
    why="HIP cannot load it either.",
    remedy="Build the library again; see whether a tool has edited it since.",
)
WRONG_PACKAGE: Final = Rule(
    "D105",
    "device code for another target than its package is for",
    why="Users of the package's GPU do not need it, and users of the other GPU do not get it.",
    remedy="Move the file to the package of its target.",
)
NO_ARCHIVE: Final = Rule(
    "D106",
    "a library's archive of device code is missing for a GPU target, or has nothing of the library",
    why="The library's code was split off into .kpack archives; for this GPU it is not where HIP looks.",
    remedy="Ship the archive, with the library's bundles, in the package of the target, at this path.",
)
OTHER_CODE: Final = Rule(
    "D107",
    "device code that no GPU of the package can load",
    severity=Severity.WARNING,
    why="The package is for certain GPUs only: users download the rest for nothing.",
    remedy="Slice the library for the target of its package, as the layout `thin` does, or build it for that alone.",
)
NARROW: Final = Rule(
    "D108",
    "a library that has no code for some of the GPU targets",
    severity=Severity.NOTE,
    why="It fails there when it is used, while other libraries work. It can be intended, or a build gone wrong.",
    remedy="If it is not intended, build the library for these targets.",
)
LACKS_BASE: Final = Rule(
    "D110",
    "an offered GPU target lacks the libraries that nearly all others have",
    why="Users of such a GPU get packages with which hardly any program works.",
    remedy="Do not offer the target, or build these libraries for it.",
)
ENTRIES: Final = Rule(
    "D111",
    "a library asks for other bundles than its archives of device code have",
    why="HIP looks for each bundle by its number: kernels of missing bundles fail on every GPU.",
    remedy="Split the library again with a tool that numbers bundles as its wrappers do, or leave its code inside.",
)
NOT_CHOSEN: Final = Rule(
    "D113",
    "a library beside the SDK has no device code for the chosen GPU target",
    severity=Severity.WARNING,
    why="The SDK supports this GPU, and the library fails on it when it is used (hipErrorNoBinaryForGpu).",
    remedy="Build its wheel for this target as well, or declare an exception if nobody uses the library there.",
)
#: Rules whose findings are about the GPUs that they name, and about no others.
OF_TARGETS: Final = frozenset((NO_CODE.id, NO_VARIANT.id, UNEVEN.id, NO_ARCHIVE.id, NARROW.id))


def listed(targets: Collection[TargetId]) -> str:
    """Return target IDs for people."""
    return ", ".join(str(one) for one in sorted(targets)) or "none"
