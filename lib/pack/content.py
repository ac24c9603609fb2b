"""The bytes that an entry has in its package: a file's bytes, maybe edited in flight, or what is made for it.

They come as blocks, which are deflated each on its own. Where a block is a stretch of a source, it says which: packages
for other GPUs have the same one, and it need not be deflated again.
"""

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lib.common.program import ToolError
from lib.deflate.library import BLOCK_BYTES
from lib.device.model import DeviceError
from lib.elf.dynamic_edit import DynamicEdit
from lib.elf.editor import plan_patch
from lib.elf.model import ElfFile
from lib.elf.patch import Made, Patch, PatchBuilder, Piece, SourceRange, Strategy
from lib.elf.patched import then
from lib.elf.source import ElfError
from lib.pack.stand_ins import finished_launcher, forwarder
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


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes of a source file as they are: from file offset `offset` on, `size` of them."""

    source: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes that are deflated together, and the stretch of a source that they are, if that is all they are."""

    data: bytes
    stretch: Stretch | None = None
    packed: tuple[range, ...] = ()
    """Bytes of `data`, ascending, that are compressed already: device code that was compressed anew."""


def _patch(file: BinaryIO, source: str, entry: Edit, slices: Slices) -> Patch:
    """Plan what becomes of a file: code for other GPUs goes first, then the search path is set."""
    if entry.slice is not None:
        patch = slices.patch(file, source, entry)
    else:
        patch = PatchBuilder(source, file.seek(0, 2)).build(Strategy.IDENTITY)
    if entry.rpath is None:
        return patch
    edit = DynamicEdit(entry.rpath)

    def searched(elf: ElfFile, between: BinaryIO) -> Patch:
        return plan_patch(elf, between, edit)

    return then(patch, file, searched)


def _patched(file: BinaryIO, source: str, entry: Edit, slices: Slices, notes: dict[str, list[str]]) -> Iterator[Block]:
    """Stream an edited file, and note by its path what the edit gave up; raises ToolError where it cannot be made."""
    try:
        patch = _patch(file, source, entry, slices)
        if patch.notes:
            notes[entry.path] = list(patch.notes)
        yield from patch_blocks(patch, file)
    except ElfError as error:
        raise ToolError(
            f"{error}. Its RPATH cannot be set: exclude the file from the package, or link it differently"
        ) from None
    except DeviceError as error:
        raise ToolError(f"{error}. Its device code cannot be sliced: exclude the file from the package") from error


def patch_blocks(patch: Patch, file: BinaryIO) -> Iterator[Block]:
    """Cut the file that a patch makes of the source `file` into blocks.

    Every long stretch of the source begins a block: so it gives the same blocks wherever it comes to lie.
    Raises ElfError as `Patch.chunks` does, ToolError as `stretch_blocks` does.
    """
    short: list[Piece] = []
    for piece in patch.pieces:
        if not isinstance(piece, SourceRange) or piece.size < BLOCK_BYTES:
            short.append(piece)
            continue
        yield from _short_blocks(patch.path, file, short)
        short = []
        yield from stretch_blocks(patch.path, file, piece.offset, piece.size)
    yield from _short_blocks(patch.path, file, short)


def _short_blocks(path: str, file: BinaryIO, pieces: Iterable[Piece]) -> Iterator[Block]:
    """Cut what lies between long stretches into blocks."""
    data, packed = bytearray(), list[range]()
    for piece in pieces:
        for chunk in Patch(path, (piece,), Strategy.IDENTITY).chunks(file, BLOCK_BYTES):
            rest = memoryview(chunk)
            while rest:
                part, rest = rest[: BLOCK_BYTES - len(data)], rest[BLOCK_BYTES - len(data) :]
                if isinstance(piece, Made):
                    start = packed.pop().start if packed and packed[-1].stop == len(data) else len(data)
                    packed.append(range(start, len(data) + len(part)))
                data += part
                if len(data) == BLOCK_BYTES:
                    yield Block(bytes(data), packed=tuple(packed))
                    data, packed = bytearray(), []
    if data:
        yield Block(bytes(data), packed=tuple(packed))


def stretch_blocks(source: str, file: BinaryIO, offset: int, size: int) -> Iterator[Block]:
    """Cut `size` bytes of a file into blocks. Raises ToolError if there are not as many."""
    for at in range(offset, offset + size, BLOCK_BYTES):
        wanted = min(BLOCK_BYTES, offset + size - at)
        file.seek(at)
        data = file.read(wanted)
        if len(data) < wanted:
            raise ToolError(
                f"{source}: ends at byte {at + len(data)}; it had {offset + size}. "
                "Build again when nothing writes to it"
            )
        yield Block(data, Stretch(source, at, wanted))


def _state(file: BinaryIO) -> tuple[int, int]:
    """Return what changes if somebody writes to a file. Its ctime also changes if it gets another link."""
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


def entry_blocks(
    entry: Edit, located: dict[str, str], launcher: str | None, slices: Slices, notes: dict[str, list[str]]
) -> Iterator[Block]:
    """Stream the bytes that an entry has in the package."""
    if entry.made is not None:
        yield Block(_made(entry, launcher))
    elif entry.source is not None:
        with open(located[entry.source], "rb") as file:
            before = _state(file)
            if entry.rpath is not None or entry.slice is not None:
                yield from _patched(file, entry.source, entry, slices, notes)
            else:
                yield from stretch_blocks(entry.source, file, 0, file.seek(0, 2))
            if _state(file) != before:
                raise ToolError(f"{entry.source}: was changed while it was read. Build again when nothing writes to it")
    else:
        raise ToolError(f"{entry.path}: nothing says what to pack; expected a source, or what to make")


def _made(entry: Edit, launcher: str | None) -> bytes:
    """Return the bytes of what pack makes."""
    target = entry.target or ""
    if entry.made == "forwarder":
        return forwarder(posixpath.basename(entry.path), target, entry.machine or 0, entry.versions or ())
    if launcher is None:
        raise ToolError(f"{entry.path}: needs a launcher; expected the rule to give one")
    return finished_launcher(launcher, entry.path, target, entry.machine, entry.subsystem)
