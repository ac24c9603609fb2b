"""Deflates and digests the entries of a unit, into a segment for each package that holds some of them."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from lib.common.digest import file_sha256
from lib.deflate.library import crc32, deflate_block, in_order
from lib.pack.content import Block, Slices, Stretch, entry_blocks
from lib.pack.segment import Levels, Packed, SegmentIndex
from lib.plan.edits import Edits

#: Blocks per thread that wait for it: enough that none is idle while this one reads, digests and writes.
_BLOCKS_AHEAD = 8


@dataclass(frozen=True)
class Work:
    """Packing of a unit for one package: its edit file, and the path of its segment."""

    edits: Edits
    segment: Path


@dataclass(frozen=True)
class _Run:
    """Range of deflated bytes in the segment that is being written."""

    descriptor: int
    offset: int
    length: int


@dataclass
class _Deflater:
    """Deflates blocks, each stretch of a source once: where an earlier segment has it, it is read from there."""

    levels: Levels
    known: dict[Stretch, _Run] = field(default_factory=dict)

    def __call__(self, given: "tuple[_Entry, Block]") -> "tuple[_Entry, Block, bytes]":
        entry, block = given
        run = self.known.get(block.stretch) if block.stretch else None
        if run is None:
            packed = block.packed if self.levels.stores_dense else ()
            deflated = deflate_block(
                block.data, self.levels.deflate, store_dense=self.levels.stores_dense, packed=packed
            )
        else:
            deflated = os.pread(run.descriptor, run.length, run.offset)
        return entry, block, deflated


class _Entry:
    """An entry on its way into a segment: what is known of its bytes so far."""

    def __init__(self, path: str, mode: str) -> None:
        self._path, self._mode = path, mode
        self._size, self._crc32, self._sha256 = 0, 0, hashlib.sha256()
        self.length = 0
        """Of its run, in bytes."""

    def take(self, data: bytes) -> None:
        """Digest the bytes that follow."""
        self._size += len(data)
        self._crc32 = crc32(data, self._crc32)
        self._sha256.update(data)

    def packed(self, offset: int) -> Packed:
        """Return what the index says, with the offset of the run in the segment."""
        digest = self._sha256.hexdigest()
        return Packed(self._path, self._mode, offset, self.length, self._size, self._crc32, digest)


class Packer:
    """Writes entries to a segment, one after the other."""

    def __init__(self, segment: BinaryIO, pool: ThreadPoolExecutor, deflater: _Deflater, ahead: int) -> None:
        """Deflate in the threads of `pool`, `ahead` blocks at a time."""
        self._segment = segment
        self._pool = pool
        self._deflater = deflater
        self._ahead = ahead

    def pack(self, contents: Iterable[tuple[str, str, Iterable[Block]]]) -> tuple[Packed, ...]:
        """Deflate entries, each a path, a mode and its bytes, and return where they are.

        While one ends the next begin: a thousand small files keep the threads as busy as a big one.
        """
        entries: list[_Entry] = []

        def digested() -> Iterator[tuple[_Entry, Block]]:
            for path, mode, content in contents:
                entry = _Entry(path, mode)
                entries.append(entry)
                for block in content:
                    entry.take(block.data)
                    yield entry, block

        written: dict[Stretch, _Run] = {}
        end = self._segment.tell()
        offset = end
        for entry, block, deflated in in_order(self._deflater, digested(), self._pool, self._ahead):
            if block.stretch:
                written[block.stretch] = _Run(self._segment.fileno(), end, len(deflated))
            self._segment.write(deflated)
            entry.length += len(deflated)
            end += len(deflated)
        self._segment.flush()
        self._deflater.known = written | self._deflater.known  # the segments that follow take from this one
        ends = accumulate((entry.length for entry in entries), initial=offset)
        return tuple(entry.packed(start) for entry, start in zip(entries, ends, strict=False))


def pack_unit(
    work: Sequence[Work], located: dict[str, str], launcher: str | None, levels: Levels, threads: int
) -> list[SegmentIndex]:
    """Write a unit's segments, one for each package, and return their indexes.

    `located` has the path of each source. What several packages have is deflated once. Raises ToolError for a source
    that cannot become what it should.
    """
    indexes = []
    digests = {source: file_sha256(Path(located[source])) for one in work for source in one.edits.digest}
    deflater = _Deflater(levels)
    with ThreadPoolExecutor(threads) as pool, ExitStack() as opened:
        slices = Slices(levels.zstd, pool, work[0].segment.parent)
        for one in work:
            slices.expect(one.edits.entries)
        for one in work:
            notes: dict[str, list[str]] = {}
            packer = Packer(opened.enter_context(one.segment.open("w+b")), pool, deflater, _BLOCKS_AHEAD * threads)
            entries = packer.pack(
                (entry.path, entry.mode, entry_blocks(entry, located, launcher, slices, notes))
                for entry in one.edits.entries
            )
            indexes.append(SegmentIndex(entries, {source: digests[source] for source in one.edits.digest}, notes))
    return indexes
