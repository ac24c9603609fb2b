"""What becomes of files with device code, planned at once for all packages that a unit is packed for.

So a compressed bundle is inflated once, whichever packages keep something of it.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lib.elf.patch import Patch
from lib.plan.edits import Edit

if TYPE_CHECKING:
    from lib.device.recompress import Recompression

#: What an entry says of its device code: the targets it is for, and the targets among them without any.
Key = tuple[tuple[str, ...], tuple[str, ...]]


def _key(entry: Edit) -> Key:
    return entry.slice or (), entry.absent or ()


@dataclass
class Slices:
    """The patches of a unit's files. Code that was compressed is compressed at zstd's `level`, by `pool`."""

    level: int
    pool: Executor
    directory: Path
    """Where frames wait, in a file without a name."""
    _wanted: dict[str, dict[Key, None]] = field(default_factory=dict)
    _patches: dict[tuple[str, Key], Patch] = field(default_factory=dict)
    _frames: "Recompression | None" = None

    def expect(self, entries: Iterable[Edit]) -> None:
        """Say what one package will ask for."""
        for entry in entries:
            if entry.source and entry.slice is not None:
                self._wanted.setdefault(entry.source, {})[_key(entry)] = None

    def patch(self, file: BinaryIO, source: str, entry: Edit) -> Patch:
        """Return the patch of `source` for an entry that was expected. Raises DeviceError as plan_slices does."""
        key = _key(entry)
        if (source, key) not in self._patches:
            keys = list(self._wanted[source])
            self._patches |= zip([(source, one) for one in keys], self._plan(file, source, keys), strict=True)
        return self._patches[source, key]

    def _plan(self, file: BinaryIO, source: str, keys: Sequence[Key]) -> list[Patch]:
        # Most units have no device code: what slices takes longer to import than they to pack.
        from lib.device.recompress import Recompression
        from lib.device.slice import SliceTargets, plan_slices
        from lib.gpus.target_id import parse_target_id

        self._frames = self._frames or Recompression(self.level, self.pool, self.directory)
        wanted = [SliceTargets(*(tuple(map(parse_target_id, texts)) for texts in key)) for key in keys]
        return plan_slices(file, source, wanted, self._frames)
