"""Lays packed entries out as a tar archive (POSIX.1-2001 pax), still deflated, and compresses one with xz.

The archive is one zip member of the devel wheel: its headers and paddings are deflated here, the files' bytes are runs
that `pack` made.

xz uses many threads and gives the same bytes whatever their number: the file is a sequence of streams (the .xz file
format, section 1), one per part of the input. Every reader of .xz files takes them for one. A part is a few times as
large as the dictionary, so that little is lost.
"""

import lzma
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from lib.common.archive_time import archive_time
from lib.deflate.library import blocks, in_order
from lib.pack.segment import Packed
from lib.wheel.deflated_run import Run, small_run, stored_run


def header_run(name: str, mode: int, type_: bytes, size: int = 0, link: str = "", *, is_gnu: bool = False) -> Run:
    """Return a member's header, deflated, in pax or GNU format; `type_` is a constant of `tarfile`."""
    member = tarfile.TarInfo(name)
    member.mode, member.type, member.size, member.linkname, member.mtime = mode, type_, size, link, archive_time()
    return small_run(member.tobuf(tarfile.GNU_FORMAT if is_gnu else tarfile.PAX_FORMAT, "utf-8", "strict"))


def padding_run(size: int) -> Run:
    """Return the zeros, deflated, that follow a member of `size` bytes."""
    return small_run(bytes(-size % tarfile.BLOCKSIZE))


def end_run() -> Run:
    """Return the two blocks of zeros, deflated, that end an archive."""
    return small_run(bytes(2 * tarfile.BLOCKSIZE))


def tar_runs(tree: str, packed: Mapping[str, Packed], runs: Mapping[str, Run]) -> Iterator[Run]:
    """Yield the runs of an archive of a tree's files, below the directory `tree`."""
    for path in sorted(packed):
        run = runs[path]
        yield header_run(f"{tree}/{path}", int(packed[path].mode, 8), tarfile.REGTYPE, run.size)
        yield run
        yield padding_run(run.size)
    yield end_run()


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
