"""zstd's decoder through ctypes: Python has none before 3.14.

The library (`zstd_decoder.c`) is built by the zig toolchain from a locked source. It is a resource beside this module,
in a zip application too: the loader opens it from memory.
"""

import ctypes
import functools
import os
import sys
from pathlib import Path
from typing import Any, Final

NAME: Final = "zstd_decoder.so"
#: The largest window is 2^27 bytes: what zstd takes at most without being told, and makes for matches over long
#: distances, as clang asks for. (What RFC 8878 asks of every decoder is 2^23.)
WINDOW_LOG: Final = 27


class ZstdError(Exception):
    """A frame that cannot be decoded; the message says why."""


def _beside() -> ctypes.CDLL:
    # Of a file as of a zip application; importlib.resources does not see into archives without __init__.py.
    loader: Any = sys.modules[__name__].__loader__
    try:
        content = loader.get_data(str(Path(__file__).with_name(NAME)))
    except OSError:
        raise ZstdError(
            f"it needs {NAME}, which is not beside the reader: run it with Bazel, which builds it"
        ) from None
    descriptor = os.memfd_create(NAME)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        return ctypes.CDLL(f"/proc/self/fd/{descriptor}")


@functools.cache
def _library(path: Path | None) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path)) if path else _beside()
    size = ctypes.POINTER(ctypes.c_size_t)
    library.zstd_decoder_new.argtypes = [ctypes.c_int]
    library.zstd_decoder_new.restype = ctypes.c_void_p
    library.zstd_decoder_free.argtypes = [ctypes.c_void_p]
    library.zstd_decoder_free.restype = None
    library.zstd_decoder_step.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, size,
        ctypes.c_void_p, ctypes.c_size_t, size, ctypes.POINTER(ctypes.c_int),
    ]  # fmt: skip
    library.zstd_decoder_step.restype = ctypes.c_char_p
    return library


class ZstdDecoder:
    """Decodes frames, one after the other. `ended` says whether the last byte of one was the last that was seen.

    It takes windows of up to `2^window_log` bytes. `library` is the shared library's file if that is not
    beside this module.
    """

    def __init__(self, window_log: int = WINDOW_LOG, library: Path | None = None) -> None:
        self.ended = False
        self._library = _library(library)
        self._handle = self._library.zstd_decoder_new(window_log)
        self._out = ctypes.create_string_buffer(0)
        if not self._handle:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.zstd_decoder_free(self._handle)

    def step(self, data: bytes, room: int) -> tuple[bytes, int]:
        """Take some of `data` and return up to `room` bytes, and how many were taken. Raises ZstdError."""
        if room > len(self._out):
            self._out = ctypes.create_string_buffer(room)
        used, given, ended = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_int()
        wrong = self._library.zstd_decoder_step(
            self._handle, data, len(data), ctypes.byref(used), self._out, room, ctypes.byref(given), ctypes.byref(ended)
        )
        if wrong is not None:
            raise ZstdError(wrong.decode())
        self.ended = bool(ended.value)
        return ctypes.string_at(self._out, given.value), used.value
