"""Which processor a code object by itself is for, as its ELF header says.

    code_object_target(elf.flags)   # gfx942

The numbers come from LLVM's "User Guide for AMDGPU Backend" ("AMDGPU ELF Header e_flags", EF_AMDGPU_MACH).
"""

from collections.abc import Mapping
from typing import Final

from lib.gpus.target_id import TargetId

#: The bits of e_flags that name the processor.
EF_AMDGPU_MACH: Final = 0xFF
#: The first number of a processor of the architecture amdgcn.
_FIRST: Final = 0x20
#: From that number on, in order; `-` stands for numbers that are reserved.
_NAMES: Final = """
gfx600 gfx601 gfx700 gfx701 gfx702 gfx703 gfx704 - gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906
gfx908 gfx909 gfx90c gfx1010 gfx1011 gfx1012 gfx1030 gfx1031 gfx1032 gfx1033 gfx602 gfx705 gfx805 gfx1035 gfx1034 gfx90a
gfx940 gfx1100 gfx1013 gfx1150 gfx1103 gfx1036 gfx1101 gfx1102 gfx1200 gfx1250 gfx1151 gfx941 gfx942 - gfx1201 gfx950
gfx1310 gfx9-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx1152 - - gfx1153 gfx12-generic gfx1251
gfx12-5-generic gfx1172 gfx1170 gfx1171 gfx9-4-generic
"""
PROCESSORS: Final[Mapping[int, str]] = {
    number: name for number, name in enumerate(_NAMES.split(), _FIRST) if name != "-"
}


def code_object_target(flags: int) -> TargetId | None:
    """Return the processor in e_flags, without features; None for a number that is not known."""
    name = PROCESSORS.get(flags & EF_AMDGPU_MACH)
    return TargetId(name) if name else None
