"""Which GPUs can load code: pure functions over target IDs.

Which processors a family (`gfx110X-all`) stands for, `tools.lib.gpus.families` says; what a GPU can load,
`tools.lib.device.target_id.can_load`.
"""

from collections.abc import Iterable

from tools.lib.device.processors import GENERIC_PROCESSORS, SPIRV
from tools.lib.device.target_id import TargetId, can_load
from tools.lib.gpus.families import Family


def serves(codes: Iterable[TargetId], target: TargetId) -> bool:
    """Whether a GPU of that target can load one of the code objects."""
    return any(can_load(code, target) for code in codes)


def serves_family(codes: Iterable[TargetId], family: Family) -> bool:
    """Whether some processor of a family can load one of the code objects."""
    for code in codes:
        covered = (code.processor, *GENERIC_PROCESSORS.get(code.processor, ()))
        if code.processor == SPIRV or any(family.has(processor) for processor in covered):
            return True
    return False
