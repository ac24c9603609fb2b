"""zstd through ctypes: Python has none before 3.14, and what an interpreter brings is of any version.

    encoder = ZstdEncoder()
    encoder.begin(level=3, size=len(data))
    frame = encoder.step(data) + encoder.finish()

The library (`zstd_codec.c`) is built by the zig toolchain from a locked source: the same content gives the same frame
on every machine, however it is cut into steps.
"""

import ctypes
import functools
from pathlib import Path
from typing import Final

from lib.common.shared_library import Functions, declare, load_beside

NAME: Final = "zstd_codec.so"
#: The largest window is 2^27 bytes: what zstd takes at most without being told, and makes for matches over long
#: distances, as clang asks for. (What RFC 8878 asks of every decoder is 2^23.)
WINDOW_LOG: Final = 27
#: Bytes of a frame that an encoder gives at a time: more than a block, so that none waits.
_ROOM: Final = 1 << 18


class ZstdError(Exception):
    """A frame that cannot be decoded, or content that cannot be encoded; the message says why."""


_SIZE: Final = ctypes.POINTER(ctypes.c_size_t)
_FLAG: Final = ctypes.POINTER(ctypes.c_int)
_FEED: Final = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, _SIZE, ctypes.c_void_p, ctypes.c_size_t, _SIZE]
_FUNCTIONS: Final[Functions] = {
    "zstd_decoder_new": (ctypes.c_void_p, [ctypes.c_int]),
    "zstd_decoder_free": (None, [ctypes.c_void_p]),
    "zstd_decoder_step": (ctypes.c_char_p, [*_FEED, _FLAG]),
    "zstd_encoder_new": (ctypes.c_void_p, []),
    "zstd_encoder_free": (None, [ctypes.c_void_p]),
    "zstd_encoder_begin": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_ulonglong]),
    "zstd_encoder_step": (ctypes.c_char_p, [*_FEED, ctypes.c_int, _FLAG]),
}


@functools.cache
def _library(path: Path | None) -> ctypes.CDLL:
    try:
        return declare(ctypes.CDLL(str(path)) if path else load_beside(__name__, NAME), _FUNCTIONS)
    except FileNotFoundError as error:
        raise ZstdError(str(error)) from None


def _check(wrong: bytes | None) -> None:
    if wrong is not None:
        raise ZstdError(wrong.decode())


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
        _check(wrong)
        self.ended = bool(ended.value)
        return ctypes.string_at(self._out, given.value), used.value


class ZstdEncoder:
    """Encodes frames, one after the other: `begin`, then `step` with all of the content, then `finish`.

    One frame at a time, by one thread at a time.
    """

    def __init__(self) -> None:
        self._library = _library(None)
        self._handle = self._library.zstd_encoder_new()
        self._out = ctypes.create_string_buffer(_ROOM)
        if not self._handle:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.zstd_encoder_free(self._handle)

    def begin(self, level: int, size: int) -> None:
        """Begin a frame of `size` bytes of content, at zstd's `level`: 1 (fast) to 22 (small)."""
        _check(self._library.zstd_encoder_begin(self._handle, level, size))

    def step(self, data: bytes) -> bytes:
        """Take content, and return what there is of the frame. Raises ZstdError for more content than was said."""
        given, rest = self._feed(data, last=False)
        while rest:
            more, rest = self._feed(rest, last=False)
            given += more
        return given

    def finish(self) -> bytes:
        """Return the rest of the frame. Raises ZstdError if there was less content than was said."""
        given = b""
        while True:
            more, rest = self._feed(b"", last=True)
            given += more
            if rest is None:
                return given

    def _feed(self, data: bytes, *, last: bool) -> tuple[bytes, bytes | None]:
        """Take some content; returns bytes of the frame, and the content that is left, None behind the frame's end."""
        used, given, ended = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_int()
        wrong = self._library.zstd_encoder_step(
            self._handle, data, len(data), ctypes.byref(used),
            self._out, _ROOM, ctypes.byref(given), last, ctypes.byref(ended),
        )  # fmt: skip
        _check(wrong)
        return ctypes.string_at(self._out, given.value), None if ended.value else data[used.value :]
