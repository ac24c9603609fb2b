"""Which GPU targets AMD's and LLVM's tables have, and which of them are near a word that is none.

    is_known("gfx1299")        # False, although it has the form of a target
    suggestion("gfx1102x")     # "near it are gfx1102, gfx1100, gfx1101; known are gfx900, …"

Files may name targets that no table has: there will be new ones. What people write is checked.
"""

from difflib import get_close_matches
from typing import Final

from tools.lib.gpus.families import parse_family, without_features
from tools.lib.gpus.table import TARGETS
from tools.lib.gpus.target_id import ALTERNATIVE_NAMES, GENERIC_PROCESSORS

#: The processors of both tables, without features.
PROCESSORS: Final = frozenset(
    {target.name for target in TARGETS}
    | {*GENERIC_PROCESSORS, *ALTERNATIVE_NAMES.values()}.union(*GENERIC_PROCESSORS.values())
)


def is_known(word: str) -> bool:
    """Whether a target, with or without features, is in one of the tables, or a family has such a target."""
    family = parse_family(word)
    return without_features(word) in PROCESSORS or (family is not None and any(map(family.has, PROCESSORS)))


def suggestion(word: str) -> str:
    """Return the known targets that are spelled alike, if there are any, and those that packages can be for."""
    near = get_close_matches(without_features(word), sorted(PROCESSORS), cutoff=0.7)
    known = f"known are {', '.join(target.name for target in TARGETS)}"
    return f"near it are {', '.join(near)}; {known}" if near else known
