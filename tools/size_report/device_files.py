"""Which files are device code as a whole, and for which target each is.

ROCm's libraries open such files by names that they make up from the target of the GPU: `TensileLibrary_gfx1030.co`,
`Kernels.so-000-gfx90a-xnack+.hsaco`, `gfx90a68.kdb`.
"""

import re
from typing import Final

from tools.device.processors import GENERIC_PROCESSORS
from tools.plan.slicing import named_target

#: Suffixes of files that hold code objects: alone or bundled, in MIOpen's databases, in ROCm's archives.
SUFFIXES: Final = (".co", ".hsaco", ".kdb", ".kpack")
#: What `tools.inspect` calls an ELF file that is a code object.
CODE_OBJECT: Final = "gpu-code-object"
#: Stands for the target of a file whose name says none.
NO_TARGET: Final = "(no target)"
#: A processor in a name: major version, and one hexadecimal digit each for minor version and stepping. More may
#: follow, such as the number of compute units.
_PROCESSOR: Final = re.compile(r"gfx(?:1[0-9]|[6-9])[0-9a-f]{2}", re.ASCII)


def is_device_file(path: str, kind: str) -> bool:
    """Whether a file is device code as a whole; `kind` is its type, as `tools.inspect` says."""
    return kind == CODE_OBJECT or path.endswith(SUFFIXES)


def target_of_file(path: str) -> str:
    """Return the canonical target ID that a path names, NO_TARGET if none that can be told."""
    known = tuple(sorted(set(_PROCESSOR.findall(path))))
    target = named_target(path, known)
    if target is None or target.processor not in (*known, *GENERIC_PROCESSORS):
        return NO_TARGET  # None, or a processor of another form than all that there are.
    return str(target)
