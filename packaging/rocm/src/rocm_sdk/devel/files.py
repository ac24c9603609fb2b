"""Making the files and directories of the development tree from the bytes of its archive.

Most of the time goes by in the system, which makes files and copies bytes. Threads share that work, a batch each.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path

from ..progress import Report
from ..system import OPEN_NEW, count_processors
from .replace import write_all

# What is read and written at a time. It fits the second cache of a CPU: with 1 MiB writing takes three times as long.
COPY_BYTES = 1 << 18
# More threads than this only wait for each other.
MOST_THREADS = 4
_BATCH_BYTES = 1 << 24
_BATCH_FILES = 256


@dataclass(frozen=True)
class Member:
    """A regular file or a directory: its path relative to `home`, permission bits, and size and offset in bytes."""

    name: str
    mode: int
    size: int
    offset: int
    is_directory: bool


def make_directories(path: Path, mode: int) -> None:
    """Make a directory and those above it that are missing, all with `mode` less the umask. Raises OSError."""
    try:
        path.mkdir(mode=mode, exist_ok=True)
    except FileNotFoundError:
        make_directories(path.parent, mode)
        path.mkdir(mode=mode, exist_ok=True)


class Directories:
    """Makes the directories below `home`/`tree`, which must not exist, each before what lies in it."""

    def __init__(self, home: Path, tree: str, mode: int) -> None:
        """Make the tree's own; no directory gets permission bits that `mode` lacks."""
        self._home, self._mode = home, mode
        (home / tree).mkdir(mode)
        self._made = {tree}

    def make_for(self, member: Member) -> None:
        """Make the directory that a member is or lies in; it stays writable for its owner. Raises OSError."""
        if member.is_directory:
            self._make(member.name, member.mode)
        else:
            self._make(posixpath.dirname(member.name), 0o777)

    def _make(self, name: str, mode: int) -> None:
        if name not in self._made:
            self._make(posixpath.dirname(name), 0o777)
            (self._home / name).mkdir(mode=mode & self._mode | 0o700)
            self._made.add(name)


def write_file(home: Path, member: Member, pieces: Iterable[bytes | memoryview]) -> None:
    """Write one file, which must not exist, with the mode that it has less the umask. Raises OSError."""
    descriptor = os.open(f"{home}/{member.name}", OPEN_NEW, member.mode)
    try:
        for piece in pieces:
            write_all(descriptor, piece)
    finally:
        os.close(descriptor)


def write_files(home: Path, archive: Path, files: Sequence[Member], report: Report) -> None:
    """Write files whose bytes lie in the file `archive`; raises EOFError if they do not, and OSError.

    No thread is left when it returns or raises.
    """
    write = partial(_write_batch, home, archive)
    with ThreadPoolExecutor(min(MOST_THREADS, count_processors())) as threads:
        try:
            for position in threads.map(write, _batches(files)):
                report(position)
        except BaseException:
            threads.shutdown(wait=True, cancel_futures=True)
            raise


def _batches(files: Sequence[Member]) -> Iterator[list[Member]]:
    batch: list[Member] = []
    size = 0
    for member in files:
        batch.append(member)
        size += member.size
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _write_batch(home: Path, archive: Path, batch: list[Member]) -> int:
    """Write files and return the position in the archive, in bytes, behind the last."""
    buffer = memoryview(bytearray(COPY_BYTES))
    with open(archive, "rb", buffering=0) as stream:
        for member in batch:
            write_file(home, member, _pieces(stream, member, buffer))
    return batch[-1].offset + batch[-1].size


def _pieces(archive: FileIO, member: Member, buffer: memoryview) -> Iterator[memoryview]:
    """Yield a file's bytes; each piece is overwritten by the next."""
    left = member.size
    archive.seek(member.offset)
    while left:
        length = archive.readinto(buffer[:left])
        if not length:
            raise EOFError(f"{member.name} is cut short")
        yield buffer[:length]
        left -= length
