"""Compresses a stream with xz, by many threads, to the same bytes whatever their number.

The file is a sequence of streams (the .xz file format, section 1), one per part of the
input: every reader of .xz files takes them for one. A part is a few times as large as
the dictionary, so that little is lost.
"""

import lzma
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from tools.actions.link.run import Run, stored_run
from tools.lib.deflate.blocks import blocks, in_order

#: Bytes of input per stream: three times the dictionary of PRESET.
PART_BYTES = 24 << 20
PRESET = 6


def compressed_part(part: bytes) -> bytes:
    """Compress one part to a stream of its own."""
    return lzma.compress(part, lzma.FORMAT_XZ, check=lzma.CHECK_SHA256, preset=PRESET)


def xz_runs(chunks: Iterable[bytes], threads: int, scratch: IO[bytes]) -> Iterator[Run]:
    """Yield runs that inflate to the compressed input; their bytes lie in a scratch file, since they may be many."""
    with ThreadPoolExecutor(threads) as pool:
        for part in in_order(compressed_part, blocks(chunks, PART_BYTES), pool, threads):
            yield stored_run(part, scratch)
    scratch.flush()
