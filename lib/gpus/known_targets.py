"""Which GPU targets AMD's and LLVM's tables have, and which of them resemble a word that is not a target.

    is_known("gfx1299")        # False, although it has the form of a target
    suggestion("gfx1102x")     # "near it are gfx1102; known are gfx900, …"

Files may name targets that no table has: there will be new ones. What people write is checked.
"""

from difflib import get_close_matches
from itertools import takewhile
from typing import Final

from lib.gpus.families import parse_family, without_features
from lib.gpus.table import TARGETS
from lib.gpus.target_id import ALTERNATIVE_NAMES, GENERIC_PROCESSORS

#: The processors of both tables, without features.
PROCESSORS: Final = frozenset(
    {target.name for target in TARGETS}
    | {*GENERIC_PROCESSORS, *ALTERNATIVE_NAMES.values()}.union(*GENERIC_PROCESSORS.values())
)

#: With no more characters in common, words are not near each other: all targets begin with `gfx`.
_LEAST: Final = 4
#: So many targets are named as near.
_SHOWN: Final = 4


def is_known(word: str) -> bool:
    """Whether a target, with or without features, is in one of the tables, or a family has such a target."""
    family = parse_family(word)
    return without_features(word) in PROCESSORS or (family is not None and any(map(family.has, PROCESSORS)))


def suggestion(word: str) -> str:
    """Return the known targets that are spelled alike, if there are any, and those that packages can be for."""
    word = without_features(word)
    begun = {one: _common(one, word) for one in PROCESSORS}
    most = max(begun.values())
    # `gfx1109` is near gfx1100 rather than gfx1190: what differs last differs least.
    same = sorted(one for one, length in begun.items() if length == most) if most > _LEAST else []
    near = same if 0 < len(same) <= _SHOWN else get_close_matches(word, same or sorted(PROCESSORS), _SHOWN, cutoff=0.7)
    known = f"known are {', '.join(target.name for target in TARGETS)}"
    return f"near it are {', '.join(near)}; {known}" if near else known


def _common(one: str, other: str) -> int:
    """Return how many characters two words begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
