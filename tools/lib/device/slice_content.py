"""The bytes of sliced bundles, as pieces of a patch: ranges of the file, new tables, and bundles compressed anew."""

from collections.abc import Sequence

from tools.lib.device.bundle import bundle_table
from tools.lib.device.model import Bundle, Span
from tools.lib.device.slice_layout import SlicedBundle
from tools.lib.elf.patch import Literal, Made, Maker, Piece, SourceRange


def slice_pieces(span: Span, bundles: Sequence[SlicedBundle]) -> tuple[Piece, ...]:
    """Make the pieces that stand for a whole span, and hold its bundles as planned."""
    writer = _Writer(span.offset)
    for sliced in bundles:
        writer.pad(sliced.new.offset)
        if sliced.remainder.is_whole:
            writer.copy(sliced.old.offset, sliced.old.size)
        elif sliced.recompressed:
            writer.make(sliced.recompressed, sliced.new.size, sliced.old)
        else:
            writer.add(bundle_table(sliced.new.code_objects))
            for old, new in sorted((pair for pair in sliced.pairs if pair[0].size), key=lambda pair: pair[0].offset):
                writer.pad(sliced.new.offset + new.offset)
                writer.copy(sliced.old.offset + old.offset, old.size)
    return writer.finish(span.end)


class _Writer:
    """Collects pieces: bytes of the new span, up to `at`, and what of the old one they stand for."""

    def __init__(self, position: int) -> None:
        self.at = 0
        self._position = position
        self._pending = b""
        self._pieces: list[Piece] = []

    def add(self, data: bytes) -> None:
        self._pending += data
        self.at += len(data)

    def pad(self, at: int) -> None:
        self.add(bytes(at - self.at))

    def copy(self, offset: int, size: int) -> None:
        """Take bytes of the file; those since the last ones are left out."""
        self._flush(offset)
        self._pieces.append(SourceRange(offset, size))
        self._position += size
        self.at += size

    def make(self, maker: Maker, size: int, old: Bundle) -> None:
        """Have bytes made in place of a bundle's."""
        self._flush(old.offset)
        self._pieces.append(Made(maker, size, replaces=old.size))
        self._position += old.size
        self.at += size

    def finish(self, end: int) -> tuple[Piece, ...]:
        self._flush(end)
        return tuple(self._pieces)

    def _flush(self, position: int) -> None:
        """Write down the bytes that wait, for what the file has up to `position`."""
        if self._pending or position > self._position:
            self._pieces.append(Literal(self._pending, position - self._position))
        self._pending, self._position = b"", position
