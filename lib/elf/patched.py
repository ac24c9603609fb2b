"""The new file behind a patch, as a file to read from: nothing is written to look at what an edit would give.

So a second edit is planned on the outcome of the first, and both are one patch:

    first = plan_slice(file, path, targets)
    patch = then(first, file, lambda elf, between: plan_patch(elf, between, edit))

Each edit knows nothing of the other, and each is checked as it is alone.
"""

import io
import os
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from lib.elf.model import ElfFile
from lib.elf.patch import Literal, Made, Patch, Piece, SourceRange
from lib.elf.reader import read_elf


def open_patched(patch: Patch, file: BinaryIO) -> BinaryIO:
    """Open the file that `patch` makes of the seekable source `file`, for reading and seeking."""
    return io.BufferedReader(_PatchedFile(patch, file))


class _PatchedFile(io.RawIOBase):
    def __init__(self, patch: Patch, file: BinaryIO) -> None:
        self._patch = patch
        self._file = file
        self._starts = list(accumulate((piece.size for piece in patch.pieces), initial=0))
        self._position = 0
        self._made: tuple[int, int, bytes, Iterator[bytes]] = (-1, 0, b"", iter(()))
        """What is being made: index of the piece, the byte of it that comes next, bytes that wait, and the others."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._starts[-1]}[whence]
        self._position = base + offset
        return self._position

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]  # io names a private protocol
        view = memoryview(buffer)
        done = 0
        while done < len(view) and self._position < self._starts[-1]:
            index = bisect_right(self._starts, self._position) - 1
            piece, at = self._patch.pieces[index], self._position - self._starts[index]
            size = min(len(view) - done, piece.size - at)
            if isinstance(piece, Literal):
                view[done : done + size] = piece.data[at : at + size]
            elif isinstance(piece, Made):
                view[done : done + size] = self._make(index, piece, at, size)
            else:
                view[done : done + size] = self._read(piece.offset + at, size)
            done += size
            self._position += size
        return done

    def _make(self, index: int, piece: Made, at: int, size: int) -> bytes:
        """Make `size` bytes of the piece with this index, from its byte `at` on; in order, each is made only once."""
        if self._made[:2] != (index, at):
            rest_of_it = replace(piece, start=piece.start + at, size=piece.size - at)
            self._made = (index, at, b"", rest_of_it.chunks(self._patch.path, self._file))
        _, _, rest, chunks = self._made
        self._made = (-1, 0, b"", iter(()))  # should making fail
        while len(rest) < size:
            rest += next(chunks)
        self._made = (index, at + size, rest[size:], chunks)
        return rest[:size]

    def _read(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size).ljust(size, b"\0")


def write_patched(patch: Patch, file: BinaryIO, output: str) -> None:
    """Write what `patch` makes of `file`, a file that the system has open, to `output` (it may be the same file).

    It gets the mode of `file`. It is written beside `output` and renamed when it is whole, so that a run that fails
    leaves no half-written file. Raises ElfError as `Patch.chunks` does, OSError as the system does.
    """
    target = Path(output)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as out:
            out.writelines(patch.chunks(file))
            os.fchmod(out.fileno(), os.fstat(file.fileno()).st_mode & 0o7777)
        temporary.replace(target)
    except BaseException:
        temporary.unlink()
        raise


def then(first: Patch, file: BinaryIO, plan: Callable[[ElfFile, BinaryIO], Patch]) -> Patch:
    """Plan a second edit of the file that `first` makes of the source `file`; returns what both make of the source.

    Raises ElfError as `plan` does. Its message has offsets in the file between the two edits.
    """
    between = open_patched(first, file)
    return compose(first, plan(read_elf(between, first.path), between))


def compose(first: Patch, second: Patch) -> Patch:
    """Return the patch that does what `first` does, and then `second` on the outcome.

    Raises ValueError when `second` is not for the file that `first` makes, and when it makes bytes of that.
    """
    if any(isinstance(piece, Made) for piece in second.pieces):
        raise ValueError(f"{first.path}: the second patch makes bytes of a file that there will not be")
    if first.size != second.source_size:
        raise ValueError(f"{first.path}: a patch of {second.source_size} bytes behind a patch that makes {first.size}")
    if first.is_identity or second.is_identity:
        return replace(second if first.is_identity else first, notes=first.notes + second.notes)
    taker = _Taker(first.pieces)
    pieces: list[Piece] = []
    for piece in second.pieces:
        under = taker.take(piece.replaces)
        if isinstance(piece, SourceRange):
            pieces += under
        else:
            pieces.append(replace(piece, replaces=sum(one.replaces for one in under)))
    pieces += taker.rest()  # removals
    return Patch(first.path, tuple(pieces), second.strategy, first.notes + second.notes)


class _Taker:
    """Takes pieces from the beginning to the end, and cuts them where that is asked for."""

    def __init__(self, pieces: tuple[Piece, ...]) -> None:
        self._left = list(reversed(pieces))

    def take(self, size: int) -> list[Piece]:
        """Take pieces of `size` bytes together."""
        taken: list[Piece] = []
        while size:
            piece = self._left.pop()
            if piece.size > size:
                piece, other = _cut(piece, size)
                self._left.append(other)
            size -= piece.size
            taken.append(piece)
        return taken

    def rest(self) -> list[Piece]:
        """Return the pieces that nobody has taken."""
        return list(reversed(self._left))


def _cut(piece: Piece, at: int) -> tuple[Piece, Piece]:
    """Cut a piece in two before its byte `at`; the source bytes that it replaces go with its bytes, one by one."""
    if isinstance(piece, SourceRange):
        return SourceRange(piece.offset, at), SourceRange(piece.offset + at, piece.size - at)
    replaced = min(at, piece.replaces)
    if isinstance(piece, Literal):
        return Literal(piece.data[:at], replaced), Literal(piece.data[at:], piece.replaces - replaced)
    tail = replace(piece, start=piece.start + at, size=piece.size - at, replaces=piece.replaces - replaced)
    return replace(piece, size=at, replaces=replaced), tail
