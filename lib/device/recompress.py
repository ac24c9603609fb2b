"""Compresses the kept parts of compressed bundles again. Each bundle is inflated once for all packages.

    with ThreadPoolExecutor(2) as pool:
        made = recompress(file, path, remainders, Recompression(level=3, pool=pool))

A compressed bundle stays compressed: with a header of the same version, in a zstd frame. The frame's size is known only
afterwards, and the place of the next bundle depends on it. So frames wait in a temporary file, the spool; memory holds
only some chunks of each.
"""

import hashlib
import os
import tempfile
from collections import deque
from collections.abc import Collection, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import BinaryIO, Final

from lib.device.content import CHUNK, Forward, header_size, pack_header
from lib.device.model import Bundle, Compression, Method
from lib.device.reader import bundle_table
from lib.device.slice_plan import Remainder
from lib.device.zstd import ZstdEncoder
from lib.elf.source import Source

#: Chunks that were inflated and wait to be compressed, of all bundles together.
_CHUNKS_AHEAD: Final = 64
#: Bytes of a frame that are collected before they go to the spool.
_SPOOLED: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Extent:
    """Bytes of a spool."""

    offset: int
    size: int


class Spool:
    """A temporary file without a name, which is gone when nothing refers to it any more. For many threads."""

    def __init__(self, directory: Path | None) -> None:
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115  # it lives as long as this
        self._lock = Lock()
        self._end = 0

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def keep(self, data: bytes) -> Extent:
        """Append bytes."""
        with self._lock:
            extent = Extent(self._end, len(data))
            self._end += len(data)
        done = 0
        while done < len(data):
            done += os.pwrite(self._file.fileno(), memoryview(data)[done:], extent.offset + done)
        return extent

    def chunks(self, extent: Extent) -> Iterator[bytes]:
        """Yield bytes that were appended."""
        at, end = extent.offset, extent.offset + extent.size
        while at < end:
            data = os.pread(self._file.fileno(), min(CHUNK, end - at), at)
            at += len(data)
            yield data


class Recompression:
    """Settings for new frames: zstd's level, the number of threads, and the directory for temporary files."""

    def __init__(self, level: int, pool: Executor, directory: Path | None = None) -> None:
        self.level = level
        self.pool = pool
        self._directory = directory
        self._spool: Spool | None = None
        self._room = BoundedSemaphore(_CHUNKS_AHEAD)
        self._lock = Lock()

    @property
    def spool(self) -> Spool:
        """The spool, which is made when it is asked for first."""
        with self._lock:
            self._spool = self._spool or Spool(self._directory)
            return self._spool

    def enter(self) -> None:
        """Wait until there is room for another chunk."""
        self._room.acquire()

    def leave(self) -> None:
        """Make room for another chunk, because one is finished."""
        self._room.release()


@dataclass(frozen=True)
class Recompressed:
    """A new bundle, compressed: what its header says, that header, and where its frame waits. A maker for patches."""

    compression: Compression
    header: bytes
    spool: Spool
    frame: tuple[Extent, ...]

    @property
    def size(self) -> int:
        """The size in bytes of the bundle, its header included."""
        return len(self.header) + sum(extent.size for extent in self.frame)

    def chunks(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield the bundle's bytes."""
        del file
        yield self.header
        for extent in self.frame:
            yield from self.spool.chunks(extent)


def recompress(
    file: BinaryIO, path: str, remainders: Collection[Remainder], recompression: Recompression
) -> dict[Remainder, Recompressed]:
    """Compress what remains of compressed bundles of the file open in `file`, called `path` in errors.

    Raises ElfError if a bundle is damaged, or its new size does not fit into its header.
    """
    by_bundle: dict[Bundle, list[Remainder]] = {}
    for remainder in remainders:
        by_bundle.setdefault(remainder.old, []).append(remainder)
    source = Source(file, path)
    frames: dict[Remainder, _Frame] = {}
    try:
        for bundle, ours in sorted(by_bundle.items(), key=lambda item: item[0].offset):
            frames |= {remainder: _Frame(remainder, recompression) for remainder in ours}
            _inflate(source, bundle, [frames[remainder] for remainder in ours])
    finally:
        for frame in frames.values():
            frame.finish()
    return {remainder: frame.result(source) for remainder, frame in frames.items()}


def _inflate(source: Source, bundle: Bundle, frames: "list[_Frame]") -> None:
    """Inflate a bundle, and give each frame the code objects that it has."""
    forward = Forward(source, bundle.offset, bundle.size, bundle.compression)
    for code in sorted(bundle.code_objects, key=lambda code: (code.offset, code.size)):
        takers = [frame for frame in frames if code in frame.places]
        if not takers:
            continue
        what = f"the code object {code.entry.text}"
        forward.skip(code.offset - forward.position, what)
        for frame in takers:
            frame.begin_code(frame.places[code])
        for chunk in forward.chunks(code.size, what):
            for frame in takers:
                frame.add(chunk)
        for frame in takers:
            frame.end_code()
    forward.finish()
    for frame in frames:
        frame.finish()


class _Frame:
    """A new bundle on its way into the spool: one thread adds bytes; the pool's threads, one at a time, compress."""

    def __init__(self, remainder: Remainder, recompression: Recompression) -> None:
        self.places = {old: new.offset for old, new in remainder.pairs if new.size}
        self._remainder = remainder
        self._recompression = recompression
        self._lock = Lock()
        self._waiting: deque[bytes] = deque()
        self._is_busy = False
        self._is_finished = False
        self._added = 0
        self._done: Future[None] = Future()
        self._table = bundle_table([new for _, new in remainder.pairs])
        self._codes = len(self.places)
        self._digest = hashlib.md5(usedforsecurity=False)
        self._encoder: ZstdEncoder | None = None
        self._made: list[bytes] = []
        self._extents: list[Extent] = []

    def begin_code(self, place: int) -> None:
        """Add what comes before the code object at byte `place` of the bundle: the table or zeros."""
        before = self._table if not self._added else b""
        self.add(before + bytes(place - self._added - len(before)))

    def add(self, data: bytes) -> None:
        """Add bytes, once there is room for them."""
        if data:
            self._added += len(data)
            self._recompression.enter()
            self._hand_over(data)

    def end_code(self) -> None:
        """Say that a code object was added. Behind the last one, the frame ends, so that few are begun at a time."""
        self._codes -= 1
        if not self._codes:
            self.finish()

    def finish(self) -> None:
        """Say that all bytes were added, or that no more will be; may be said again."""
        if not self._is_finished:
            self._is_finished = True
            if not self._added:
                self.add(self._table)
            self._recompression.enter()
            self._hand_over(b"")

    def result(self, source: Source) -> Recompressed:
        """Wait for the frame, and return it. Raises ElfError if its size does not fit into the header."""
        self._done.result()
        old = self._remainder.old.compression
        assert old is not None
        version, digest = old.version, self._digest.digest()[:8]
        compression = Compression(version, Method.ZSTD, header_size(version), self._remainder.size, digest)
        made = sum(extent.size for extent in self._extents)
        header = pack_header(source, self._remainder.old.offset, compression, made)
        return Recompressed(compression, header, self._recompression.spool, tuple(self._extents))

    def _hand_over(self, data: bytes) -> None:
        with self._lock:
            self._waiting.append(data)
            if self._is_busy:
                return
            self._is_busy = True
        self._recompression.pool.submit(self._work)

    def _work(self) -> None:
        """Compress what waits, until nothing does."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._is_busy = False
                    return
                data = self._waiting.popleft()
            try:
                if not self._done.done():
                    self._compress(data)
            except Exception as error:  # `result` raises it, in the thread that asks
                self._done.set_exception(error)
            finally:
                self._recompression.leave()

    def _compress(self, data: bytes) -> None:
        """Compress some bytes; none means that these were the last."""
        if self._encoder is None:
            self._encoder = ZstdEncoder()
            self._encoder.begin(self._recompression.level, self._remainder.size)
        if data:
            self._digest.update(data)
            self._made.append(self._encoder.step(data))
        else:
            self._made.append(self._encoder.finish())
        if not data or sum(map(len, self._made)) >= _SPOOLED:
            self._extents.append(self._recompression.spool.keep(b"".join(self._made)))
            self._made = []
        if not data:
            self._encoder = None
            self._done.set_result(None)
