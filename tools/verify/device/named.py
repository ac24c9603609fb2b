"""Which GPU target a file is for, by its name: `Kernels_gfx1100.dat`, `Kernels_gfx90a-xnack+.co`, `gfx90a68.kdb`.

ROCm's libraries open such files by names that they make up from the target of the GPU. (Tensile's and rocBLAS's file
names; features are written with `-` in place of `:`.)
"""

import posixpath
import re
from collections.abc import Collection
from typing import Final

from tools.device.target_id import TargetId, parse_target_id

#: Suffixes of files that hold device code, or the lists of it, for one target.
SUFFIXES: Final = (".co", ".hsaco", ".dat")
#: Suffixes of MIOpen's databases of kernels, of what was found to be fast, and of models that predict that.
DATABASES: Final = (".kdb", ".db", ".db.txt", ".fdb.txt", ".model")
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


def target_of_database(path: str, processors: Collection[str]) -> TargetId | None:
    """Return the target of a database of MIOpen's, by its name; None if it names none of the processors.

    The number of compute units follows the processor at once: `gfx90a68.kdb` is for a gfx90a with 68 of them. So it
    is the longest of `processors` that the name begins with.
    """
    name = posixpath.basename(path)
    found = [one for one in processors if name.startswith(one)] if name.endswith(DATABASES) else []
    return TargetId(max(found, key=len)) if found else None
