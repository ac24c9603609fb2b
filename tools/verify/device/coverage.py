"""Which GPUs can load code: pure functions over target IDs.

A *family* (`gfx110X-all`) stands for all processors that match it, `X` being one hexadecimal digit; of `gfx9-all` minor
version and stepping are open, and of `gfx-all` all. What a GPU can load, `tools.device.target_id.can_load` says.
"""

import re
from collections.abc import Iterable

from tools.device.processors import GENERIC_PROCESSORS, SPIRV
from tools.device.target_id import TargetId, can_load


def family_pattern(target: str) -> re.Pattern[str] | None:
    """Return what the processors of a family match; None for a target that is no family."""
    stem, dash, _ = target.partition("-")
    if target in GENERIC_PROCESSORS or not (dash or "X" in stem):
        return None
    if stem == "gfx":
        return re.compile("gfx[0-9a-f]+")
    digits = re.escape(stem).replace("X", "[0-9a-f]")
    return re.compile(digits + ("(?:[0-9a-f]{2})?" if dash else ""))


def serves(codes: Iterable[TargetId], target: TargetId) -> bool:
    """Whether a GPU of that target can load one of the code objects."""
    return any(can_load(code, target) for code in codes)


def serves_family(codes: Iterable[TargetId], pattern: re.Pattern[str]) -> bool:
    """Whether some processor of a family can load one of the code objects."""
    for code in codes:
        covered = (code.processor, *GENERIC_PROCESSORS.get(code.processor, ()))
        if code.processor == SPIRV or any(pattern.fullmatch(processor) for processor in covered):
            return True
    return False
