"""Lays packed entries out as a tar archive (POSIX.1-2001 pax), still deflated.

The archive is one zip member of the devel wheel: its headers and paddings are deflated here, the files' bytes are runs
that `pack` made.
"""

import tarfile
from collections.abc import Iterator, Mapping

from lib.common.archive_time import archive_time
from lib.pack.segment import Packed
from lib.wheel.deflated_run import Run, small_run


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
