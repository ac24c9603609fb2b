"""libdeflate through ctypes: the fastest deflate there is (RFC 1951), and CRC-32, the same bytes on every machine.

The library (`deflater.c`) is built by the zig toolchain from a locked source, so neither
the interpreter's zlib nor the CPU has a say in what comes out.

Every block is compressed on its own, without a window into the one before, and leaves the stream at a byte boundary and
not finished. So blocks can be made by many threads and many actions, laid one after the other, and closed with
`FINAL_BLOCK`, as a zip member or as part of one. Inflating takes bounded memory, because only blocks are inflated as a
whole: this project's blocks, and zlib's, have less than 5 MB.
"""

import ctypes
import functools
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from lib.common.shared_library import Functions, declare, load_beside

Given = TypeVar("Given")
Made = TypeVar("Made")

#: Bytes of input in a block: large enough to compress well, small enough for threads to share a file.
BLOCK_BYTES = 1 << 20
#: An empty block with BFINAL set, in fixed Huffman codes: what closes a stream of joined blocks.
FINAL_BLOCK = b"\x03\x00"
#: libdeflate's levels: for the few bytes that only link knows, to tell what is compressed already, and to store.
SMALLEST, FASTEST, STORED = 9, 1, 0


def blocks(chunks: Iterable[bytes], size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Cut a stream of chunks of any size into blocks of `size` bytes; the last may be shorter."""
    rest = bytearray()
    for chunk in chunks:
        if not rest and len(chunk) == size:  # As files are read.
            yield chunk
            continue
        rest += chunk
        while len(rest) >= size:
            yield bytes(rest[:size])
            del rest[:size]
    if rest:
        yield bytes(rest)


def in_order(
    work: Callable[[Given], Made], stream: Iterable[Given], pool: ThreadPoolExecutor, ahead: int
) -> Iterator[Made]:
    """Do the work on each block in the pool's threads, and yield the results in the blocks' order.

    At most `ahead` blocks are in memory beyond the yielded block.
    """
    waiting: deque[Future[Made]] = deque()
    for block in stream:
        waiting.append(pool.submit(work, block))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


NAME = "deflater.so"
_POINTER, _SIZE, _SIZES = ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)
_RUN = [_POINTER, ctypes.c_char_p, _SIZE, _POINTER, _SIZE]
_FUNCTIONS: Functions = {
    "libdeflate_alloc_compressor": (_POINTER, [ctypes.c_int]),
    "libdeflate_free_compressor": (None, [_POINTER]),
    "deflater_bound": (_SIZE, [_POINTER, _SIZE]),
    "deflater_run": (_SIZE, _RUN),
    "deflater_run_unless_dense": (_SIZE, [_POINTER, *_RUN]),
    "libdeflate_crc32": (ctypes.c_uint32, [ctypes.c_uint32, _POINTER, _SIZE]),
    "libdeflate_alloc_decompressor": (_POINTER, []),
    "libdeflate_free_decompressor": (None, [_POINTER]),
    "inflater_run": (ctypes.c_int, [_POINTER, _POINTER, _SIZE, _POINTER, _SIZE, _SIZES, _SIZES]),
}


@functools.cache
def loaded_library() -> ctypes.CDLL:
    """Load the library once."""
    return declare(load_beside(__name__, NAME), _FUNCTIONS)


class _Handle:
    """A compressor or decompressor of libdeflate's, which goes when nothing refers to it any more."""

    def __init__(self, kind: str, otherwise: str, *level: int) -> None:
        self._free = getattr(loaded_library(), f"libdeflate_free_{kind}")
        self.pointer: int | None = getattr(loaded_library(), f"libdeflate_alloc_{kind}")(*level)
        if not self.pointer:
            raise ValueError(f"{otherwise}, and memory for it")

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._free(self.pointer)


class _Compressor(threading.local):
    """A thread's compressors, by level, and the buffer that they write to; they live as long as the thread."""

    def __init__(self) -> None:
        self._handles: dict[int, _Handle] = {}
        self._buffer = ctypes.create_string_buffer(0)

    def run(self, data: bytes, level: int, *, store_dense: bool) -> bytes:
        library, handle = loaded_library(), self._handle(level)
        room = library.deflater_bound(handle, len(data))
        if room > len(self._buffer):
            self._buffer = ctypes.create_string_buffer(room)
        if store_dense:
            probe = self._handle(FASTEST)
            written = library.deflater_run_unless_dense(handle, probe, data, len(data), self._buffer, room)
        else:
            written = library.deflater_run(handle, data, len(data), self._buffer, room)
        return ctypes.string_at(self._buffer, written)

    def _handle(self, level: int) -> int | None:
        if level not in self._handles:
            self._handles[level] = _Handle("compressor", f"deflate level {level}: expected 0 to 12", level)
        return self._handles[level].pointer


_compressor = _Compressor()


def deflate_block(data: bytes, level: int, *, store_dense: bool = False, packed: Sequence[range] = ()) -> bytes:
    """Deflate to blocks of which none is final, up to a byte boundary; what does not shrink is stored.

    `level` is libdeflate's, 1 (fast) to 12 (small). With `store_dense`, each piece of 64 KiB that is compressed
    already, and would shrink by some per cent at most, is stored without an attempt: samples of it tell. Where it is
    known, `packed` says: these bytes, given in ascending order, are stored. May be called from many threads.
    """
    runs, at = [], 0
    for stored in packed:
        if at < stored.start:
            runs.append(_compressor.run(data[at : stored.start], level, store_dense=store_dense))
        runs.append(_compressor.run(data[stored.start : stored.stop], STORED, store_dense=False))
        at = stored.stop
    if at < len(data) or not runs:
        runs.append(_compressor.run(data[at:], level, store_dense=store_dense))
    return b"".join(runs)


def crc32(data: bytes | memoryview, value: int = 0) -> int:
    """Return the CRC-32 (as zip has it) of `data`; `value` is the CRC-32 of what comes before it."""
    given = (ctypes.c_char * len(data)).from_buffer(data) if isinstance(data, memoryview) else data
    return int(loaded_library().libdeflate_crc32(value, given, len(data)))


#: Bytes of the buffer for input, and of each of the two for output; less for what is smaller.
IN_BYTES, OUT_BYTES = 4 << 20, 8 << 20
#: How far back a match may refer (RFC 1951, section 2).
WINDOW_BYTES = 32 << 10


class InflateError(ValueError):
    """The input is not one complete stream."""


class _Input:
    """The part of the input that is being inflated."""

    def __init__(self, chunks: Iterable[bytes], room: int) -> None:
        self.buffer = ctypes.create_string_buffer(room)
        self._view = memoryview(self.buffer).cast("B")
        self.size = 0
        self._chunks = filter(None, chunks)
        self._rest = memoryview(b"")

    def advance(self, used: int) -> None:
        """Forget the first `used` bytes, and read on."""
        left = self.size - used
        self._view[:left] = self._view[used : self.size]
        self.size = left
        while self.size < len(self._view) and (self._rest or self._next()):
            part = self._rest[: len(self._view) - self.size]
            self._view[self.size : self.size + len(part)] = part
            self.size += len(part)
            self._rest = self._rest[len(part) :]

    def _next(self) -> bool:
        self._rest = memoryview(next(self._chunks, b""))
        return len(self._rest) > 0


def inflate(chunks: Iterable[bytes], length: int, size: int) -> Iterator[memoryview]:
    """Yield what a stream of `length` bytes inflates to, `size` bytes, in pieces.

    A piece stays valid while the next one is made, and no longer: so another thread can work on it. Raises InflateError
    if the stream is damaged, cut or followed by more.
    """
    run, decompressor = loaded_library().inflater_run, _Handle("decompressor", "expected libdeflate")
    source = _Input(chunks, max(1, min(length, IN_BYTES)))
    room = max(1, min(size, OUT_BYTES))
    buffers = itertools.cycle([ctypes.create_string_buffer(room) for _ in range(2)])
    # Where the next block begins: a bit of the input, a byte of the output.
    bits, done = ctypes.c_size_t(), ctypes.c_size_t()
    window, is_final = memoryview(b""), False
    while not is_final:
        source.advance(bits.value // 8)
        buffer = next(buffers)
        view = memoryview(buffer).cast("B")
        view[: len(window)] = window
        bits.value, done.value = begin, _ = bits.value % 8, len(window)
        is_final = run(decompressor.pointer, source.buffer, source.size, buffer, room, bits, done)
        if not is_final and bits.value == begin:
            raise InflateError(f"expected whole blocks of raw deflate that inflate to {size} bytes")
        yield view[len(window) : done.value]
        window = view[max(done.value - WINDOW_BYTES, 0) : done.value]
    source.advance(bits.value // 8)
    if source.size:
        raise InflateError("bytes follow the final block; expected none")
