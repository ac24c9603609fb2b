"""How large an xz file is once it is uncompressed, without doing so (The .xz File Format 1.2.1).

Each stream ends with an index of its blocks' sizes and a footer that says where that begins, so a file is read from its
end. Python's `lzma` does not offer this.
"""

from __future__ import annotations

import io
import os
from typing import IO

# Names and sizes of chapters 2.1.1, 2.1.2 and 4.
HEADER_BYTES = 12
FOOTER_BYTES = 12
_FOOTER_MAGIC = b"YZ"
_PADDING = bytes(4)


def uncompressed_size(stream: IO[bytes]) -> int:
    """Return the sum of the sizes in bytes of all blocks of all streams; raises EOFError if the file is cut or broken.

    The position in `stream` is as before.
    """
    before = stream.tell()
    try:
        end, total = stream.seek(0, os.SEEK_END), 0
        while end:
            if _read(stream, end - len(_PADDING), len(_PADDING)) == _PADDING:  # 2.2, Stream Padding
                end -= len(_PADDING)
                continue
            start, size = _measure_stream(stream, end)
            end, total = start, total + size
        return total
    finally:
        stream.seek(before)


def _measure_stream(stream: IO[bytes], end: int) -> tuple[int, int]:
    """Return where the stream that ends at `end` begins, and its uncompressed size."""
    footer = _read(stream, end - FOOTER_BYTES, FOOTER_BYTES)
    if footer[-2:] != _FOOTER_MAGIC:
        raise EOFError(f"no end of an xz stream at byte {end}")
    index_bytes = (int.from_bytes(footer[4:8], "little") + 1) * 4  # 2.1.2.2, Backward Size
    index_start = end - FOOTER_BYTES - index_bytes
    index = io.BytesIO(_read(stream, index_start, index_bytes))
    if index.read(1) != b"\0":
        raise EOFError(f"no index of an xz stream at byte {index_start}")
    packed = unpacked = 0
    for _ in range(_read_number(index)):
        packed += -(-_read_number(index) // 4) * 4  # Unpadded Size; blocks are padded to four bytes
        unpacked += _read_number(index)
    return index_start - packed - HEADER_BYTES, unpacked


def _read_number(index: IO[bytes]) -> int:
    """Read a multibyte integer (1.2): seven bits a byte, the lowest first."""
    number = 0
    for shift in range(0, 63, 7):
        byte = index.read(1)
        if not byte:
            break
        number |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return number
    raise EOFError("the index of an xz stream is broken")


def _read(stream: IO[bytes], start: int, length: int) -> bytes:
    if start < 0:
        raise EOFError("an xz stream is cut short")
    stream.seek(start)
    data = stream.read(length)
    if len(data) != length:
        raise EOFError("an xz stream is cut short")
    return data
