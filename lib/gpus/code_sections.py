"""Sections of programs and libraries that hold device code, as data: one line for each maker of GPUs.

A PE image has the first eight characters of a long name. Add a section here to have reports count it as device code.
"""

from typing import Final

#: HIP's, of which `lib.device` reads targets and code objects.
HIP: Final = (".hip_fatbin", ".hip_fat")
#: Sections that are counted as a whole, and the kind of code in them, which stands for a target.
COUNTED: Final = {
    ".nv_fatbin": "CUDA",
    ".nv_fatb": "CUDA",
    # Relocatable code, which the device linker reads.
    "__nv_relfatbin": "CUDA",
    "__nv_rel": "CUDA",
}
