"""libdeflate through ctypes: the fastest deflate there is, and CRC-32, the same bytes on every machine.

The library (`deflater.c`) is built by the zig toolchain from a locked source, so neither
the interpreter's zlib nor the CPU has a say in what comes out.
"""

import ctypes
import functools
import threading
from collections.abc import Sequence

from lib.common.shared_library import load_beside
from lib.deflate.blocks import STORED

NAME = "deflater.so"


@functools.cache
def loaded_library() -> ctypes.CDLL:
    """Load the library once, and say what its functions take."""
    library = load_beside(__name__, NAME)
    library.libdeflate_alloc_compressor.argtypes = [ctypes.c_int]
    library.libdeflate_alloc_compressor.restype = ctypes.c_void_p
    library.libdeflate_free_compressor.argtypes = [ctypes.c_void_p]
    library.libdeflate_free_compressor.restype = None
    library.deflater_bound.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.deflater_bound.restype = ctypes.c_size_t
    for run in (library.deflater_run, library.deflater_run_unless_dense):
        run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
        run.restype = ctypes.c_size_t
    library.libdeflate_crc32.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t]
    library.libdeflate_crc32.restype = ctypes.c_uint32
    library.libdeflate_alloc_decompressor.restype = ctypes.c_void_p
    library.libdeflate_free_decompressor.argtypes = [ctypes.c_void_p]
    library.libdeflate_free_decompressor.restype = None
    library.inflater_run.argtypes = [
        ctypes.c_void_p,
        *(ctypes.c_void_p, ctypes.c_size_t) * 2,
        *(ctypes.POINTER(ctypes.c_size_t),) * 2,
    ]
    return library


class _Handle:
    """A compressor of libdeflate's, which goes when nothing refers to it any more."""

    def __init__(self, level: int) -> None:
        self._free = loaded_library().libdeflate_free_compressor
        self.pointer: int | None = loaded_library().libdeflate_alloc_compressor(level)
        if not self.pointer:
            raise ValueError(f"deflate level {level}: expected 0 to 12, and memory for it")

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._free(self.pointer)


class _Compressor(threading.local):
    """A thread's compressors, by level, and the buffer that they write to; they live as long as the thread."""

    def __init__(self) -> None:
        self._handles: dict[int, _Handle] = {}
        self._buffer = ctypes.create_string_buffer(0)

    def run(self, data: bytes, level: int, *, store_dense: bool) -> bytes:
        library = loaded_library()
        if level not in self._handles:
            self._handles[level] = _Handle(level)
        handle = self._handles[level].pointer
        room = library.deflater_bound(handle, len(data))
        if room > len(self._buffer):
            self._buffer = ctypes.create_string_buffer(room)
        run = library.deflater_run_unless_dense if store_dense else library.deflater_run
        written = run(handle, data, len(data), self._buffer, room)
        return ctypes.string_at(self._buffer, written)


_compressor = _Compressor()


def deflate_block(data: bytes, level: int, *, store_dense: bool = False, packed: Sequence[range] = ()) -> bytes:
    """Deflate to blocks of which none is final, up to a byte boundary; what does not shrink is stored.

    `level` is libdeflate's, 1 (fast) to 12 (small). With `store_dense`, what is compressed already, and would shrink by
    some per cent at most, is stored without an attempt: samples of the data tell. Where it is known, `packed` says:
    these bytes, given in ascending order, are stored. May be called from many threads.
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
