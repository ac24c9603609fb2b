"""GPU architectures as packages see them: what a file's name says, which GPU loads which code, who takes what.

    AMD.named("lib/Kernels_gfx90a-xnack+.co")                # ("gfx90a:xnack+",)
    table = read_architectures({"names": ["sm_80", "sm_90"], "families": {"sm_8x": ["sm_80"]}})
    table.named("share/kernels_sm_8x.bin")                   # ("sm_8x",)
    table.can_load("sm_8x", "sm_80")                         # True

AMD's architectures have rules of their own: features, generic processors, names that MIOpen and Tensile make up. Other
makers' architectures are a table, which a `sdk_gpu_architectures` declares.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tools.lib.gpus.families import find_target, is_target, package_owner, without_features
from tools.lib.gpus.paths import named_targets
from tools.lib.gpus.target_id import GENERIC_PROCESSORS, can_load, parse_target_id


class Architectures(Protocol):
    """What the names of GPU architectures mean."""

    def named(self, path: str, known: Iterable[str] = ()) -> tuple[str, ...]:
        """Return what a path says that a file is for, sorted; `known` are names besides those that it knows itself."""

    def can_load(self, code: str, gpu: str) -> bool:
        """Whether a GPU loads code that is for an architecture or a family. Raises ValueError for a malformed name."""

    def serving(self, code: str) -> set[str]:
        """Return the architectures that packages can be for, so that one takes such code; none for an unknown name."""


_parse = functools.cache(parse_target_id)


class AmdArchitectures:
    """AMD's, by the tables of AMD and LLVM."""

    def named(self, path: str, known: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the target IDs that a path names."""
        return tuple(str(target) for target in named_targets(path, (_parse(one).processor for one in known)))

    def can_load(self, code: str, gpu: str) -> bool:
        """Whether a GPU, by its target ID, can load code for another target ID."""
        return can_load(_parse(code), _parse(gpu))

    def serving(self, code: str) -> set[str]:
        """Return the owners of the packages for a target, or for what a generic processor covers."""
        processor = without_features(code)
        covered = GENERIC_PROCESSORS.get(processor, frozenset([processor]))
        known = {one for one in covered if find_target(one)} or {one for one in covered if is_target(one)}
        return {package_owner(one) for one in known}


AMD: Final = AmdArchitectures()


@dataclass(frozen=True)
class ArchitectureTable:
    """Architectures of another maker."""

    names: tuple[str, ...]
    #: Family -> the architectures that load code which is named for it.
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Architecture -> others whose code its GPUs load as well.
    loads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: What files have in their names instead of an architecture or a family -> that name.
    spellings: Mapping[str, str] = field(default_factory=dict)
    #: Regular expression of further names in paths: of architectures that the table lacks; empty for none.
    pattern: str = ""

    @functools.cached_property
    def _expression(self) -> re.Pattern[str]:
        listed = sorted({*self.names, *self.families, *self.spellings}, key=lambda name: (-len(name), name))
        alternatives = [*map(re.escape, listed), *([f"(?:{self.pattern})"] if self.pattern else [])]
        return re.compile(f"(?<![0-9A-Za-z])(?:{'|'.join(alternatives)})(?![0-9A-Za-z])")

    def named(self, path: str, known: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the architectures and families that the last part of a path says which says any."""
        del known  # The table, or `pattern`, has them.
        for part in reversed(path.split("/")):
            if found := {
                self.spellings.get(match[0], match[0]) for match in self._expression.finditer(part) if match[0]
            }:
                return tuple(sorted(found))
        return ()

    def can_load(self, code: str, gpu: str) -> bool:
        """Whether a GPU loads code for an architecture or a family: its own ones, or as `loads` says."""
        return code == gpu or gpu in self.families.get(code, ()) or code in self.loads.get(gpu, ())

    def serving(self, code: str) -> set[str]:
        """Return an architecture of the table, or a family's architectures."""
        return {code} & set(self.names) | set(self.families.get(code, ()))


def read_architectures(document: Mapping[str, Any] | None) -> Architectures:
    """Read the table that a rule wrote, or return AMD's if there is none.

    Raises ValueError for a pattern that is no regular expression.
    """
    if document is None:
        return AMD
    lists = {
        key: {name: tuple(values) for name, values in document.get(key, {}).items()} for key in ("families", "loads")
    }
    table = ArchitectureTable(
        tuple(document["names"]), **lists, spellings=document.get("spellings", {}), pattern=document.get("pattern", "")
    )
    try:
        re.compile(table.pattern)
    except re.error as error:
        raise ValueError(f"pattern {table.pattern!r} is no regular expression: {error}") from None
    return table
