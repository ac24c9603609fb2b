"""The file that link writes: front to back, digested on the way, bulk data copied inside the kernel."""

import hashlib
import mmap
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import BinaryIO, Self

#: Bytes that are copied, and digested by a second thread meanwhile, at a time.
PIECE_BYTES = 8 << 20
#: Below this size, in bytes, reading and writing costs less than to map and to copy.
SMALL_BYTES = 256 << 10


class Output:
    """A file being written; its size in bytes and SHA-256 are known at any moment.

    A context manager: what it opens, files and a thread, it closes in the end.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Write to `file` from its beginning; nobody else may write to it."""
        self._file = file
        self._sha256 = hashlib.sha256()
        self._digester = ThreadPoolExecutor(1)
        self._sources: dict[str, BinaryIO] = {}
        self.size = 0

    def __enter__(self) -> Self:
        """Return this output."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close what was opened, but not the file."""
        self._digester.shutdown()
        for source in self._sources.values():
            source.close()

    @property
    def sha256(self) -> str:
        """The SHA-256 of all written so far, in hex."""
        return self._sha256.hexdigest()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)
        self._sha256.update(data)
        self.size += len(data)

    def copy(self, path: str, offset: int, length: int) -> None:
        """Append `length` bytes of another file, from `offset` on; raises EOFError if it has fewer."""
        if path not in self._sources:
            self._sources[path] = open(path, "rb")  # noqa: SIM115 - closed in __exit__
        source = self._sources[path]
        missing = offset + length - os.fstat(source.fileno()).st_size
        if missing > 0:
            raise EOFError(f"{path}: expected {length} bytes at offset {offset}; the file ends {missing} bytes earlier")
        if length < SMALL_BYTES:
            self.write(os.pread(source.fileno(), length, offset))
        else:
            self._copy_large(source, offset, length)

    def _copy_large(self, source: BinaryIO, offset: int, length: int) -> None:
        """Copy in the kernel, and digest the same bytes as the page cache has them.

        Never more than a piece is mapped: mapped pages count as memory of this process.
        """
        self._file.flush()
        for start in range(offset, offset + length, PIECE_BYTES):
            size = min(PIECE_BYTES, offset + length - start)
            before = start % mmap.ALLOCATIONGRANULARITY
            mapped = mmap.mmap(source.fileno(), before + size, access=mmap.ACCESS_READ, offset=start - before)
            with mapped, memoryview(mapped) as view, view[before:] as piece:
                digested = self._digester.submit(self._sha256.update, piece)
                try:
                    self._transfer(source, start, piece)
                finally:
                    digested.result()
        self.size += length

    def _transfer(self, source: BinaryIO, start: int, piece: memoryview) -> None:
        """Write a piece of a file, by copy_file_range(2) as far as the file systems can."""
        end = start + len(piece)
        done = start
        with suppress(OSError):  # Not between these file systems, or no file at all: io.UnsupportedOperation is one.
            while done < end and (copied := os.copy_file_range(source.fileno(), self._file.fileno(), end - done, done)):
                done += copied
        if done < end:
            self._file.write(piece[done - start :])
            self._file.flush()
