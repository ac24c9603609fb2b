"""Which GPU target a file is for, by its name: `Kernels_gfx1100.dat`, `TensileLibrary_gfx90a-xnack+.co`.

ROCm's libraries open such files by names that they make up from the target of the GPU. (Tensile's and rocBLAS's file
names; features are written with `-` in place of `:`.)
"""

import posixpath
import re
from typing import Final

from tools.device.target_id import TargetId, parse_target_id

#: Suffixes of files that hold device code, or the lists of it, for one target.
SUFFIXES: Final = (".co", ".hsaco", ".dat")
_TARGET: Final = re.compile(r"(?<![0-9A-Za-z])(gfx[0-9][0-9a-f]{2,4})((?:[-:](?:xnack|sramecc)[+-])*)(?![0-9A-Za-z])")


def target_of_name(path: str) -> TargetId | None:
    """Return the target that the name of a file says that it is for; None if it says none, or several."""
    name = posixpath.basename(path)
    if not name.endswith(SUFFIXES):
        return None
    found = {(match[1], match[2]) for match in _TARGET.finditer(name)}
    if len(found) != 1:
        return None
    ((processor, features),) = found
    return parse_target_id(processor + re.sub(r"[-:](?=[a-z])", ":", features))
