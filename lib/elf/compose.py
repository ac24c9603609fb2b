"""Two edits of one file as one patch, so that the file is read and written once.

    first = plan_slice(file, path, targets)
    patch = then(first, file, lambda elf, between: plan_patch(elf, between, edit))

The second edit is planned on the file that the first one gives, which is not made for it: it is read through the first
patch. So each edit knows nothing of the other, and each is checked as it is alone.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from lib.elf.model import ElfFile
from lib.elf.patch import Literal, Made, Patch, Piece, SourceRange
from lib.elf.patched import open_patched
from lib.elf.reader import read_elf


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
        """Take what is left."""
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
