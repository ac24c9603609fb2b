"""Inflates raw deflate (RFC 1951) with libdeflate: two to three times as fast as zlib, in bounded memory.

Memory is bounded because only blocks are inflated as a whole: this project's blocks, and zlib's, have less than 5 MB.
"""

import ctypes
import itertools
from collections.abc import Iterable, Iterator

from lib.deflate.library import loaded_library

#: Bytes of the buffer for input, and of each of the two for output; less for what is smaller.
IN_BYTES, OUT_BYTES = 4 << 20, 8 << 20
#: How far back a match may refer (RFC 1951, section 2).
WINDOW_BYTES = 32 << 10


class InflateError(ValueError):
    """The input is not one complete stream."""


class _Decompressor:
    """A decompressor of libdeflate's, which goes when nothing refers to it any more."""

    def __init__(self) -> None:
        self._free = loaded_library().libdeflate_free_decompressor
        self.pointer: int | None = loaded_library().libdeflate_alloc_decompressor()
        if not self.pointer:
            raise MemoryError("no memory for a decompressor")

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._free(self.pointer)


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
    run, decompressor = loaded_library().inflater_run, _Decompressor()
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
