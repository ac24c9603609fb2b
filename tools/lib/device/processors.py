"""What LLVM's AMDGPU backend says about processors, as data.

From the LLVM documentation, "User Guide for AMDGPU Backend": the tables "AMDGPU Processors" (alternative names) and
"AMDGPU Generic Processors", as LLVM has them in 2026. A processor that is not here is read all the same: nothing is
known about it but its name.
"""

from collections.abc import Mapping
from typing import Final

#: Alternative names of processors, and the names that they stand for.
ALTERNATIVE_NAMES: Final[Mapping[str, str]] = {
    "tahiti": "gfx600",
    "pitcairn": "gfx601",
    "verde": "gfx601",
    "hainan": "gfx602",
    "oland": "gfx602",
    "kaveri": "gfx700",
    "hawaii": "gfx701",
    "kabini": "gfx703",
    "mullins": "gfx703",
    "bonaire": "gfx704",
    "carrizo": "gfx801",
    "iceland": "gfx802",
    "tonga": "gfx802",
    "fiji": "gfx803",
    "polaris10": "gfx803",
    "polaris11": "gfx803",
    "tongapro": "gfx805",
    "stoney": "gfx810",
}

#: Generic processors, and the processors that each covers.
GENERIC_PROCESSORS: Final[Mapping[str, frozenset[str]]] = {
    "gfx9-generic": frozenset(("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c")),
    "gfx9-4-generic": frozenset(("gfx940", "gfx941", "gfx942", "gfx950")),  # LLVM 20 dropped the first two
    "gfx10-1-generic": frozenset(("gfx1010", "gfx1011", "gfx1012", "gfx1013")),
    "gfx10-3-generic": frozenset(
        ("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"),
    ),
    "gfx11-generic": frozenset(
        ("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1154"),
    ),
    "gfx11-7-generic": frozenset(("gfx1170", "gfx1171", "gfx1172")),
    "gfx12-generic": frozenset(("gfx1200", "gfx1201")),
    "gfx12-5-generic": frozenset(("gfx1250", "gfx1251")),
    "gfx13-generic": frozenset(("gfx1310",)),
}

#: What clang calls portable code, SPIR-V that the runtime compiles for the processor that is there.
SPIRV: Final = "amdgcnspirv"
