"""The GPUs that thin wheels are for: the words of `--targets`.

    parse_groups("gfx942,gfx110X-all")   # one wheel for gfx942, one for all of gfx1100 to gfx1103

Names, families and owners are as in AMD's table (`lib.gpus`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lib.common.command import CannotRunError
from lib.gpus.families import is_target, name_in_distribution, package_owner, parse_family
from lib.gpus.known_targets import is_known, suggestion
from lib.gpus.table import TARGETS
from lib.gpus.target_id import TargetId, can_load


@dataclass(frozen=True)
class Group:
    """The GPU targets that share a thin wheel."""

    label: str
    """What names of directories and distributions call it: `gfx942`, `gfx110x-all`."""
    targets: tuple[TargetId, ...]
    """Sorted, without features: a wheel has the code for every setting of them."""

    def loads(self, code: TargetId) -> bool:
        """Whether one of these GPUs can load such code."""
        return any(can_load(code, target) for target in self.targets)

    def unknown(self, codes: Iterable[TargetId]) -> tuple[TargetId, ...]:
        """Return the targets that no table has, nor any of these codes: probably typing errors."""
        processors = {code.processor for code in codes}
        return tuple(one for one in self.targets if not is_known(one.processor) and one.processor not in processors)

    def missing(self, codes: Iterable[TargetId]) -> tuple[TargetId, ...]:
        """Return the targets that can load none of these codes."""
        known = list(codes)
        return tuple(target for target in self.targets if not any(can_load(code, target) for code in known))


def parse_groups(text: str) -> tuple[Group, ...]:
    """Return a group for each target and family of a list split by commas, sorted by label.

    Raises ToolError for words that are neither, and for none.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise CannotRunError("--targets: names no GPU; expected a list such as gfx942,gfx1100 or gfx110X-all")
    groups = {group.label: group for group in map(_group, words)}
    return tuple(groups[label] for label in sorted(groups))


def _group(word: str) -> Group:
    family = parse_family(word)
    if ":" in word:
        raise CannotRunError(
            f"--targets: {word} has features; expected {word.partition(':')[0]}, whose wheel has the code for all "
            "settings of them"
        )
    if family is None and not is_target(word):
        raise CannotRunError(
            f"--targets: {word!r} is not a GPU target or family; expected names such as gfx942 or gfx110X-all; "
            f"{suggestion(word)}"
        )
    names = {package_owner(word)} if family is None else {one.owner for one in TARGETS if family.has(one.name)}
    if not names:
        raise CannotRunError(
            f"--targets: no GPU target is known of the family {word}; name the targets; {suggestion(word)}"
        )
    return Group(name_in_distribution(word).lower(), tuple(sorted(map(TargetId, names))))
