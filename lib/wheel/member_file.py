"""The bytes of one member of a wheel: once from beginning to end, and then from anywhere.

    reader = MemberReader(file, member)
    for chunk in reader.chunks(): …           # all of it, inflated once
    reader.open().read()                      # seekable; goes on from the nearest checkpoint

Deflate cannot be entered in the middle. So the first pass leaves checkpoints behind, a copy of the decompressor every
few megabytes (40 KB each): what comes later, a table at the end of a library of gigabytes, costs inflating
from the last checkpoint before it, and no memory in proportion to the file. Tables that lead to and fro, as the imports
of a DLL and their names do, are read from blocks that are kept.
"""

import io
import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from lib.wheel.zip_members import STORED, ZipMember

#: Bytes that `chunks` yields at most at a time.
CHUNK: Final = 1 << 20
#: Compressed bytes that are read at a time.
INPUT: Final = 1 << 16
#: Inflated bytes between two checkpoints.
SPACING: Final = 4 << 20
#: Members up to this size are kept whole once they are read, in bytes.
SMALL: Final = 8 << 20
#: Of larger ones, blocks of this size are kept, the latest so many.
BLOCK: Final = 1 << 17
BLOCKS: Final = 64


class MemberError(Exception):
    """Bytes that cannot be had: they do not inflate, or are fewer or more than the archive says."""


class _Cursor:
    """A place in a deflated member, from which to go on."""

    __slots__ = ("_file", "_inflater", "at", "position")

    def __init__(self, file: BinaryIO, at: int, position: int, inflater: Any) -> None:
        self._file = file
        self._inflater = inflater
        self.at = at
        """File offset of the next compressed byte to read."""
        self.position = position
        """How many bytes were inflated."""

    @property
    def can_fork(self) -> bool:
        """Whether the decompressor holds no input: a copy is small then."""
        return not self._inflater.unconsumed_tail

    def fork(self) -> "_Cursor":
        """Make a copy that goes its own way."""
        return _Cursor(self._file, self.at, self.position, self._inflater.copy())

    def read(self, end: int) -> bytes:
        """Inflate some more, none at the end of the stream; `end` is the file offset behind the member."""
        while not self._inflater.eof:
            data = self._inflater.unconsumed_tail
            if not data:
                self._file.seek(self.at)
                data = self._file.read(min(INPUT, end - self.at))
                self.at += len(data)
            try:
                found: bytes = self._inflater.decompress(data, CHUNK)
            except zlib.error as error:
                raise MemberError(f"does not inflate behind byte {self.position}: {error}") from None
            if found:
                self.position += len(found)
                return found
            if not data and not self._inflater.eof:
                raise MemberError(f"the compressed bytes end behind byte {self.position}, inside the stream")
        return b""

    def unused(self, end: int) -> int:
        """Return how many compressed bytes lie behind the end of the stream."""
        return end - self.at + len(self._inflater.unused_data)


class MemberReader:
    """One member of the wheel open in `file`; it must be `readable`. Nothing else may read `file` meanwhile."""

    def __init__(self, file: BinaryIO, member: ZipMember) -> None:
        self._file = file
        self._member = member
        self._end = member.data + member.compressed
        self._checkpoints: list[_Cursor] = []
        self._whole: bytes | None = None

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes in order. Raises MemberError at the first that is not there, or is too much."""
        kept: list[bytes] | None = [] if self._member.size <= SMALL else None
        total = 0
        for chunk in self._stored() if self._member.method == STORED else self._inflated():
            total += len(chunk)
            if total > self._member.size:
                raise MemberError(f"has more than the {self._member.size} bytes that the archive says")
            if kept is not None:
                kept.append(chunk)
            yield chunk
        if total != self._member.size:
            raise MemberError(f"has {total} bytes, the archive says {self._member.size}")
        if kept is not None:
            self._whole = b"".join(kept)

    def _stored(self) -> Iterator[bytes]:
        at = self._member.data
        while at < self._end:
            self._file.seek(at)
            chunk = self._file.read(min(CHUNK, self._end - at))
            if not chunk:
                raise MemberError("the wheel ends inside it")
            at += len(chunk)
            yield chunk

    def _inflated(self) -> Iterator[bytes]:
        cursor = _Cursor(self._file, self._member.data, 0, zlib.decompressobj(-zlib.MAX_WBITS))
        self._checkpoints = [cursor.fork()]
        while chunk := cursor.read(self._end):
            if cursor.position >= self._checkpoints[-1].position + SPACING and cursor.can_fork:
                self._checkpoints.append(cursor.fork())
            yield chunk
        if unused := cursor.unused(self._end):
            raise MemberError(f"{unused} compressed bytes behind the end of the stream")

    def open(self) -> BinaryIO:
        """Open the member for reading anywhere. Only after all of `chunks` was taken without an error."""
        if self._whole is not None:
            return io.BytesIO(self._whole)
        if self._member.method == STORED:
            return io.BufferedReader(_Window(self._file, self._member))
        return io.BufferedReader(_Inflated(self._checkpoints, self._member.size, self._end), 1 << 12)


class _Positioned(io.RawIOBase):
    """Shared methods of files that know their size and read at a position."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._at = max(0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self._some(self._at, min(len(view), max(0, self._size - self._at)))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _some(self, at: int, size: int) -> bytes:
        """Return up to `size` bytes from `at` on, none only at the end."""
        raise NotImplementedError


class _Window(_Positioned):
    """A stored member."""

    def __init__(self, file: BinaryIO, member: ZipMember) -> None:
        super().__init__(member.size)
        self._file = file
        self._start = member.data

    def _some(self, at: int, size: int) -> bytes:
        self._file.seek(self._start + at)
        return self._file.read(size)


class _Inflated(_Positioned):
    """A deflated member, entered at checkpoints."""

    def __init__(self, checkpoints: list[_Cursor], size: int, end: int) -> None:
        super().__init__(size)
        self._checkpoints = checkpoints
        self._end = end
        self._cursor = checkpoints[0].fork()
        self._chunk = b""
        """What the cursor gave last: the bytes in front of its position."""
        self._blocks: dict[int, bytes] = {}
        """By their numbers, the latest asked for at the end."""

    def _some(self, at: int, size: int) -> bytes:
        if size == 0:
            return b""
        number, inside = divmod(at, BLOCK)
        block = self._blocks.pop(number, None)
        if block is None:
            block = self._block(number * BLOCK)
            if len(self._blocks) == BLOCKS:
                del self._blocks[next(iter(self._blocks))]
        self._blocks[number] = block
        return block[inside : inside + size]

    def _block(self, at: int) -> bytes:
        pieces, end = [], min(at + BLOCK, self._size)
        while at < end:
            pieces.append(self._inflated(at, end - at))
            at += len(pieces[-1])
        return b"".join(pieces)

    def _inflated(self, at: int, size: int) -> bytes:
        start = self._cursor.position - len(self._chunk)
        nearest = self._checkpoints[bisect_right(self._checkpoints, at, key=lambda one: one.position) - 1]
        if at < start or nearest.position > self._cursor.position:
            self._cursor, self._chunk = nearest.fork(), b""
        while self._cursor.position <= at:
            self._chunk = self._cursor.read(self._end)
            if not self._chunk:
                raise MemberError(f"ends before byte {at}; was the wheel changed while it was read?")
        start = self._cursor.position - len(self._chunk)
        return self._chunk[at - start : at - start + size]
