"""Which GPU target a file is for, by its name: `Kernels_gfx1100.dat`, `Kernels_gfx90a-xnack+.co`, `gfx90a68.kdb`.

What a name says, `tools.lib.gpus.paths` knows; here is which files are asked.
"""

import posixpath
from collections.abc import Collection
from typing import Final

from tools.lib.device.processors import GENERIC_PROCESSORS
from tools.lib.device.target_id import TargetId
from tools.lib.gpus.families import is_target
from tools.lib.gpus.paths import named_targets

#: Suffixes of files that hold device code, or the lists of it, for one target.
SUFFIXES: Final = (".co", ".hsaco", ".dat")
#: Suffixes of MIOpen's databases of kernels, of what was found to be fast, and of models that predict that.
DATABASES: Final = (".kdb", ".db", ".db.txt", ".fdb.txt", ".model")


def target_of_name(path: str) -> TargetId | None:
    """Return the target that the name of a file says that it is for; None if it says none, or several."""
    name = posixpath.basename(path)
    found = named_targets(name) if name.endswith(SUFFIXES) else ()
    if len(found) != 1 or not (is_target(found[0].processor) or found[0].processor in GENERIC_PROCESSORS):
        return None
    return found[0]


def target_of_database(path: str, processors: Collection[str]) -> TargetId | None:
    """Return the target of a database of MIOpen's, by its name; None if it names none of the processors."""
    name = posixpath.basename(path)
    found = named_targets(name, processors) if name.endswith(DATABASES) and name.startswith("gfx") else ()
    return found[0] if len(found) == 1 and found[0].processor in processors else None
