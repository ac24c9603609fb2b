"""Deflates and digests the entries of a unit into a segment."""

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from tools.deflate.blocks import blocks, deflate
from tools.deflate.library import crc32
from tools.pack.content import entry_chunks
from tools.pack.segment import Index, Packed

#: Blocks per thread that wait for it: enough that none is idle while this one reads, digests and writes.
_BLOCKS_AHEAD = 8


class Packer:
    """Writes entries to a segment, one after the other."""

    def __init__(self, segment: BinaryIO, pool: ThreadPoolExecutor, level: int, ahead: int) -> None:
        """Deflate at `level` in the threads of `pool`, `ahead` blocks at a time."""
        self._segment = segment
        self._pool = pool
        self._level = level
        self._ahead = ahead

    def pack(self, path: str, mode: str, chunks: Iterable[bytes]) -> Packed:
        """Deflate one entry's bytes to the end of the segment and return where they are."""
        offset, size, crc, sha256 = self._segment.tell(), 0, 0, hashlib.sha256()

        def digested() -> Iterator[bytes]:
            nonlocal size, crc
            for block in blocks(chunks):
                size += len(block)
                crc = crc32(block, crc)
                sha256.update(block)
                yield block

        for deflated in deflate(digested(), self._level, self._pool, self._ahead):
            self._segment.write(deflated)
        return Packed(path, mode, offset, self._segment.tell() - offset, size, crc, sha256.hexdigest())


def source_digest(path: str) -> str:
    """Return the SHA-256 of a file, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pack_unit(
    edits: dict[str, Any], located: dict[str, str], launcher: str | None, segment: Path, level: int, threads: int
) -> Index:
    """Write a unit's segment and return its index.

    `edits` is what the edit file says, `located` has the path of each source. Raises
    ToolError for a source that cannot become what it should.
    """
    notes: dict[str, list[str]] = {}
    with ThreadPoolExecutor(threads) as pool, segment.open("wb") as file:
        packer = Packer(file, pool, level, _BLOCKS_AHEAD * threads)
        entries = tuple(
            packer.pack(entry["path"], entry["mode"], entry_chunks(entry, located, launcher, notes))
            for entry in edits["entries"]
        )
    return Index(entries, {source: source_digest(located[source]) for source in edits["digest"]}, notes)
