"""The bytes of sliced bundles, as pieces of a patch: ranges of the file, tables made anew, and what is inflated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from tools.device.bundle import bundle_table
from tools.device.content import Forward
from tools.device.errors import device_errors
from tools.device.model import Bundle, CodeObject, Span
from tools.device.slice_plan import SlicedBundle
from tools.elf.patch import Literal, Made, Piece, SourceRange
from tools.elf.source import Source


@dataclass(frozen=True)
class InflatedCode:
    """Makes the code objects of a compressed bundle: each pair as it was and as it will be, from byte `start` on."""

    path: str
    bundle: Bundle
    pairs: tuple[tuple[CodeObject, CodeObject], ...]
    start: int

    def chunks(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield the bytes, with zeros between them. Raises DeviceError for a damaged bundle, be it at its end."""
        at = self.start
        with device_errors():
            forward = Forward(Source(file, self.path), self.bundle.offset, self.bundle.size, self.bundle.compression)
            for old, new in self.pairs:
                what = f"the code object {old.entry.text}"
                if new.offset > at:
                    yield bytes(new.offset - at)
                forward.skip(old.offset - forward.position, what)
                yield from forward.chunks(old.size, what)
                at = new.end
            forward.finish()


def slice_pieces(path: str, span: Span, bundles: Sequence[SlicedBundle]) -> tuple[Piece, ...]:
    """Make the pieces that stand for a whole span, and hold its bundles as planned."""
    writer = _Writer(span.offset)
    for sliced in bundles:
        writer.pad(sliced.new.offset)
        if sliced.is_whole:
            writer.copy(sliced.old.offset, sliced.old.size)
            continue
        writer.add(bundle_table(sliced.new.code_objects))
        pairs = tuple(sorted((pair for pair in sliced.pairs if pair[0].size), key=lambda pair: pair[0].offset))
        if sliced.old.compression is None:
            for old, new in pairs:
                writer.pad(sliced.new.offset + new.offset)
                writer.copy(sliced.old.offset + old.offset, old.size)
        elif pairs:
            start = writer.at - sliced.new.offset
            maker = InflatedCode(path, sliced.old, pairs, start)
            writer.make(maker, sliced.new.size - start, sliced.old)
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

    def make(self, maker: InflatedCode, size: int, old: Bundle) -> None:
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
