"""Describes an edited file: an ordered list of ranges of the old file, new bytes, and bytes computed while writing.

A `Patch` is computed from a file's headers alone and describes the whole new file, so that a library of any size is
edited while it is streamed (into a file, a digest, a compressor) and never held in memory:

    builder = PatchBuilder("libx.so", source_size=1000)
    builder.overwrite(0x28, new_e_shoff)
    builder.insert(0x300, new_string_table)
    patch = builder.build(Strategy.LAST_SEGMENT)
    for chunk in patch.chunks(file):
        out.write(chunk)

Every piece stands for a stretch of the source, in order and without gaps: that gives the map from old to new offsets.
"""

import enum
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import BinaryIO, Protocol

from lib.elf.source import ElfError

CHUNK_SIZE = 1 << 20


class Strategy(enum.Enum):
    """Ways to make an edit, the least invasive one first."""

    IDENTITY = "identity"
    """Nothing to do: the new file is the old one."""
    IN_PLACE = "in-place"
    """Only bytes that nothing else refers to were overwritten; nothing moved."""
    SLACK = "slack"
    """The string table moved into padding at the end of a loaded segment; no other byte moved."""
    LAST_SEGMENT = "last-segment"
    """The last loaded segment grew; what is never loaded (debug data, section headers) moved down the file."""
    NEW_SEGMENT = "new-segment"
    """One loaded segment was appended."""
    RESIZED = "resized"
    """A section got other content, of another size; the segment that holds it was split behind it."""


@dataclass(frozen=True, slots=True)
class SourceRange:
    """`size` bytes of the source, from file offset `offset`, unchanged."""

    offset: int
    size: int

    @property
    def replaces(self) -> int:
        """Number of source bytes that this piece stands for."""
        return self.size


@dataclass(frozen=True, slots=True)
class Literal:
    """New bytes instead of the next `replaces` bytes of the source (0: an insertion; no data: a removal)."""

    data: bytes = field(repr=False)
    replaces: int = 0

    @property
    def size(self) -> int:
        """The number of bytes that this piece adds to the new file."""
        return len(self.data)


class Maker(Protocol):
    """Makes bytes from the source while it is streamed: too many to be held, and not in the source as they are."""

    def chunks(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield all of them, some at a time. Raises ElfError when the seekable source does not give them."""


@dataclass(frozen=True, slots=True)
class Made:
    """`size` of the bytes that `maker` makes, from its byte `start` on, instead of `replaces` bytes of the source."""

    maker: Maker
    size: int
    replaces: int = 0
    start: int = 0

    def chunks(self, path: str, file: BinaryIO) -> Iterator[bytes]:
        """Yield the bytes, some at a time. Raises ElfError, which names `path`, when there are not as many."""
        skip, left = self.start, self.size
        for chunk in self.maker.chunks(file):
            part = chunk[skip : skip + left]
            skip -= min(skip, len(chunk))
            left -= len(part)
            if part:
                yield part
        if left:
            raise ElfError(path, 0, f"{left} bytes fewer than planned were made: was the file changed meanwhile?")


Piece = SourceRange | Literal | Made


@dataclass(frozen=True)
class Patch:
    """The new file as pieces of the old one. Made by `PatchBuilder.build`.

    `path` names the source in errors. `notes` are sentences about what the edit costs (protection lost, say).
    """

    path: str
    pieces: tuple[Piece, ...]
    strategy: Strategy
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The size of the new file in bytes."""
        return sum(piece.size for piece in self.pieces)

    @property
    def source_size(self) -> int:
        """The size of the file that this patch is for, in bytes."""
        return sum(piece.replaces for piece in self.pieces)

    @property
    def is_identity(self) -> bool:
        """Whether the new file equals the old one."""
        return all(isinstance(piece, SourceRange) for piece in self.pieces)

    def new_offset(self, old: int) -> int | None:
        """Map the source's byte at `old` to its offset in the new file; None if it was removed.

        An overwritten byte maps to the byte that took its place. The end of the source maps to the end of the new file.
        Raises ValueError for an offset outside the source.
        """
        if not 0 <= old <= self.source_size:
            raise ValueError(f"{self.path}: offset {old} is outside the file of {self.source_size} bytes")
        starts = list(accumulate((piece.replaces for piece in self.pieces), initial=0))
        index = bisect_right(starts, old) - 1
        if index == len(self.pieces):
            return self.size
        distance = old - starts[index]
        if distance >= self.pieces[index].size:
            return None
        return sum(piece.size for piece in self.pieces[:index]) + distance

    def chunks(self, file: BinaryIO, chunk_size: int = CHUNK_SIZE) -> Iterator[bytes | memoryview]:
        """Yield the new file, piece by piece, read from the seekable source `file`.

        At most `chunk_size` bytes at a time. A chunk is valid until the next one is asked for: its buffer is reused.
        Raises ElfError when the source is shorter than it was when the patch was computed.
        """
        buffer = memoryview(bytearray(min(chunk_size, max((piece.size for piece in self.pieces), default=0))))
        for piece in self.pieces:
            if isinstance(piece, SourceRange):
                yield from self._read(file, piece, buffer)
                continue
            for data in (piece.data,) if isinstance(piece, Literal) else piece.chunks(self.path, file):
                view = memoryview(data)
                yield from (view[at : at + chunk_size] for at in range(0, len(view), chunk_size))

    def _read(self, file: BinaryIO, piece: SourceRange, buffer: memoryview) -> Iterator[memoryview]:
        file.seek(piece.offset)
        left = piece.size
        while left:
            target = buffer[: min(left, len(buffer))]
            count = file.readinto(target)  # type: ignore[attr-defined]  # every binary file has it; BinaryIO does not say so
            if not count:
                at = piece.offset + piece.size - left
                raise ElfError(
                    self.path, at, f"the file ends here; it had {self.source_size} bytes when it was planned"
                )
            yield target[:count]
            left -= count


class PatchBuilder:
    """Collects changes to one source file, in the source's own offsets and in any order."""

    def __init__(self, path: str, source_size: int) -> None:
        self._path = path
        self._source_size = source_size
        self._pieces: list[tuple[int, Literal | Made]] = []

    def overwrite(self, offset: int, data: bytes) -> None:
        """Put `data` over the bytes from `offset` on."""
        if data:
            self._pieces.append((offset, Literal(data, len(data))))

    def insert(self, offset: int, data: bytes) -> None:
        """Put `data` in front of the byte at `offset`."""
        if data:
            self._pieces.append((offset, Literal(data)))

    def put(self, offset: int, piece: Literal | Made) -> None:
        """Put `piece` instead of the bytes that it replaces, from `offset` on."""
        self._pieces.append((offset, piece))

    def build(self, strategy: Strategy, notes: tuple[str, ...] = ()) -> Patch:
        """Order the changes. Raises ElfError when two overlap or one reaches beyond the source."""
        pieces: list[Piece] = []
        end = 0
        for offset, piece in sorted(self._pieces, key=lambda item: (item[0], item[1].replaces)):
            if offset < end or offset + piece.replaces > self._source_size:
                raise ElfError(self._path, offset, "structures overlap, or lie beyond the end; is the file damaged?")
            if offset > end:
                pieces.append(SourceRange(end, offset - end))
            pieces.append(piece)
            end = offset + piece.replaces
        if end < self._source_size:
            pieces.append(SourceRange(end, self._source_size - end))
        return Patch(self._path, tuple(pieces), strategy, notes)
