"""Writes zip archives (PKWARE APPNOTE 6.3.10) whose members' sizes and CRCs are known beforehand.

The standard library's zipfile deflates what it is given; here the data is deflated
already and may be gigabytes. All is written in one pass, without data descriptors;
members and archives over 4 GiB get zip64 fields (APPNOTE 4.5.3), others do not.
"""

import hashlib
import struct
from collections.abc import Iterable
from typing import BinaryIO

LOCAL_FILE_HEADER = struct.Struct("<4s5H3L2H")
CENTRAL_FILE_HEADER = struct.Struct("<4s6H3L5H2L")
ZIP64_END = struct.Struct("<4sQ2H2L4Q")
ZIP64_LOCATOR = struct.Struct("<4sLQL")
END = struct.Struct("<4s4H2LH")

DEFLATED = 8
UTF8_FLAG = 0x800
VERSION_DEFLATE, VERSION_ZIP64 = 20, 45
#: "Version made by", upper byte: the external attributes are those of UNIX.
UNIX = 3 << 8
S_IFREG = 0o100000
#: What a field holds whose value is in a zip64 record (APPNOTE 4.4.1.4), and the least values that are there.
ZIP64_16, ZIP64_32 = 0xFFFF, 0xFFFFFFFF
LIMIT_16, LIMIT_32 = ZIP64_16, ZIP64_32
#: 1980-01-01 00:00:00, the first moment that the format knows: (date, time).
DOS_EPOCH = (1 << 5 | 1, 0)
ZIP64_EXTRA = 1


def _field(value: int) -> int:
    return value if value < LIMIT_32 else ZIP64_32


def _zip64_extra(values: list[int]) -> bytes:
    return struct.pack(f"<2H{len(values)}Q", ZIP64_EXTRA, 8 * len(values), *values) if values else b""


class ZipArchive:
    """One archive being written; its size in bytes and its SHA-256 are known when it is closed."""

    def __init__(self, file: BinaryIO) -> None:
        """Write to a file from its beginning."""
        self._file = file
        self._sha256 = hashlib.sha256()
        self._central: list[bytes] = []
        self.size = 0

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._sha256.update(data)
        self.size += len(data)

    @property
    def sha256(self) -> str:
        """The SHA-256 of all written so far, in hex."""
        return self._sha256.hexdigest()

    def add(self, name: str, mode: int, size: int, crc32: int, length: int, chunks: Iterable[bytes]) -> None:
        """Add a regular file: `size` bytes with that CRC-32, deflated to `length` bytes in `chunks`."""
        encoded, offset = name.encode(), self.size
        flags = 0 if name.isascii() else UTF8_FLAG
        large = max(size, length) >= LIMIT_32
        extra = _zip64_extra([size, length]) if large else b""
        sizes = (ZIP64_32, ZIP64_32) if large else (length, size)
        date, time = DOS_EPOCH
        version = VERSION_ZIP64 if large else VERSION_DEFLATE
        self._write(
            LOCAL_FILE_HEADER.pack(
                b"PK\3\4", version, flags, DEFLATED, time, date, crc32, *sizes, len(encoded), len(extra)
            )
        )
        self._write(encoded + extra)
        start = self.size
        for chunk in chunks:
            self._write(chunk)
        if self.size - start != length:
            raise ValueError(f"{name}: {self.size - start} bytes written where {length} were announced")
        self._remember(encoded, flags, mode, size, crc32, length, offset)

    def _remember(self, name: bytes, flags: int, mode: int, size: int, crc32: int, length: int, offset: int) -> None:
        """Keep the member's entry for the central directory."""
        large = [value for value in (size, length, offset) if value >= LIMIT_32]
        extra = _zip64_extra(large)
        version = VERSION_ZIP64 if large else VERSION_DEFLATE
        date, time = DOS_EPOCH
        header = CENTRAL_FILE_HEADER.pack(
            b"PK\1\2", UNIX | version, version, flags, DEFLATED, time, date, crc32,
            _field(length), _field(size), len(name), len(extra), 0, 0, 0,
            (S_IFREG | mode) << 16, _field(offset),
        )  # fmt: skip
        self._central.append(header + name + extra)

    def close(self) -> None:
        """Write the central directory and the end records."""
        offset, count = self.size, len(self._central)
        for header in self._central:
            self._write(header)
        length = self.size - offset
        if count >= LIMIT_16 or max(offset, length) >= LIMIT_32:
            record = self.size
            self._write(
                ZIP64_END.pack(
                    b"PK\6\6",
                    ZIP64_END.size - 12,
                    UNIX | VERSION_ZIP64,
                    VERSION_ZIP64,
                    0,
                    0,
                    count,
                    count,
                    length,
                    offset,
                )
            )
            self._write(ZIP64_LOCATOR.pack(b"PK\6\7", 0, record, 1))
        few = count if count < LIMIT_16 else ZIP64_16
        self._write(END.pack(b"PK\5\6", 0, 0, few, few, _field(length), _field(offset), 0))
