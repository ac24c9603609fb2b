"""Links a wheel (PEP 427): the tree of a package, its glue, and its metadata.

Members are sorted; the dist-info directory comes last and RECORD at its very end, so
that an installer that reads on finds the metadata together. Names and digests of the
tree come from the plan and the segments' indexes: bulk data is copied, never inflated,
except a devel package's archive, whose one SHA-256 can only be taken of the whole.

The zip archive (PKWARE APPNOTE 6.3.10) is written in one pass, without data descriptors. zipfile would deflate what it
is given; here data is deflated already, of gigabytes maybe. Members and archives over 4 GiB get zip64 fields (APPNOTE
4.5.3), others do not.
"""

import hashlib
import posixpath
import struct
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol

from lib.common.program import ToolError, archive_time
from lib.wheel.deflated_run import Joined, inflated_sha256, join, small_run
from lib.wheel.output_file import Output
from lib.wheel.record import record_text
from lib.wheel.zip_members import DEFLATED, END, FLAG_UTF8, ZIP64_END, ZIP64_LOCATOR

LOCAL_FILE_HEADER = struct.Struct("<4s5H3L2H")
CENTRAL_FILE_HEADER = struct.Struct("<4s6H3L5H2L")
VERSION_DEFLATE, VERSION_ZIP64 = 20, 45
#: "Version made by", upper byte: the external attributes are UNIX's.
UNIX = 3 << 8
S_IFREG = 0o100000
#: What a field holds whose value is in a zip64 record (APPNOTE 4.4.1.4), and the least values that are there.
ZIP64_16, ZIP64_32 = 0xFFFF, 0xFFFFFFFF
LIMIT_16, LIMIT_32 = ZIP64_16, ZIP64_32
ZIP64_EXTRA = 1


class DosTime(NamedTuple):
    """A moment as zip headers have it: two seconds are the smallest step."""

    date: int
    time: int


def dos_time(seconds: int) -> DosTime:
    """Return a moment between 1980 and 2107, in seconds since 1970, as MS-DOS has it, in UTC."""
    moment = time.gmtime(seconds)
    date = (moment.tm_year - 1980) << 9 | moment.tm_mon << 5 | moment.tm_mday
    return DosTime(date, moment.tm_hour << 11 | moment.tm_min << 5 | moment.tm_sec >> 1)


def _field(value: int) -> int:
    return value if value < LIMIT_32 else ZIP64_32


def _zip64_extra(values: list[int]) -> bytes:
    return struct.pack(f"<2H{len(values)}Q", ZIP64_EXTRA, 8 * len(values), *values) if values else b""


class MemberData(Protocol):
    """Content of a member: one deflate stream, whose sizes and CRC-32 are known before its first byte is written."""

    @property
    def length(self) -> int:
        """Bytes of the stream."""

    @property
    def size(self) -> int:
        """Bytes that it inflates to."""

    @property
    def crc32(self) -> int:
        """The CRC-32 of these."""

    def write_to(self, output: Output) -> None:
        """Append the stream to a file."""


class ZipArchive:
    """One archive being written."""

    def __init__(self, output: Output, seconds: int) -> None:
        """Write to an output from its beginning; all members are dated `seconds` since 1970, UTC."""
        self._output = output
        self._moment = dos_time(seconds)
        self._central: list[bytes] = []

    def add(self, name: str, mode: int, data: MemberData) -> None:
        """Add a regular file with the permission bits `mode`."""
        encoded, offset, output = name.encode(), self._output.size, self._output
        flags = 0 if name.isascii() else FLAG_UTF8
        large = max(data.size, data.length) >= LIMIT_32
        extra = _zip64_extra([data.size, data.length]) if large else b""
        sizes = (ZIP64_32, ZIP64_32) if large else (data.length, data.size)
        version = VERSION_ZIP64 if large else VERSION_DEFLATE
        output.write(
            LOCAL_FILE_HEADER.pack(
                b"PK\3\4", version, flags, DEFLATED, self._moment.time, self._moment.date,
                data.crc32, *sizes, len(encoded), len(extra),
            ) + encoded + extra
        )  # fmt: skip
        start = output.size
        data.write_to(output)
        if output.size - start != data.length:
            raise ValueError(f"{name}: {output.size - start} bytes written where {data.length} were announced")
        self._remember(encoded, flags, mode, data, offset)

    def _remember(self, name: bytes, flags: int, mode: int, data: MemberData, offset: int) -> None:
        """Keep the member's entry for the central directory."""
        large = [value for value in (data.size, data.length, offset) if value >= LIMIT_32]
        extra = _zip64_extra(large)
        version = VERSION_ZIP64 if large else VERSION_DEFLATE
        header = CENTRAL_FILE_HEADER.pack(
            b"PK\1\2", UNIX | version, version, flags, DEFLATED, self._moment.time, self._moment.date, data.crc32,
            _field(data.length), _field(data.size), len(name), len(extra), 0, 0, 0,
            (S_IFREG | mode) << 16, _field(offset),
        )  # fmt: skip
        self._central.append(header + name + extra)

    def close(self) -> None:
        """Write the central directory and the end records."""
        output, offset, count = self._output, self._output.size, len(self._central)
        output.write(b"".join(self._central))
        length = output.size - offset
        if count >= LIMIT_16 or max(offset, length) >= LIMIT_32:
            record = output.size
            output.write(
                ZIP64_END.pack(
                    b"PK\6\6", ZIP64_END.size - 12, UNIX | VERSION_ZIP64, VERSION_ZIP64,
                    0, 0, count, count, length, offset,
                )
            )  # fmt: skip
            output.write(ZIP64_LOCATOR.pack(b"PK\6\7", 0, record, 1))
        few = count if count < LIMIT_16 else ZIP64_16
        output.write(END.pack(b"PK\5\6", 0, 0, few, few, _field(length), _field(offset), 0))


@dataclass(frozen=True)
class WheelMember:
    """One file of a wheel."""

    name: str
    #: Permission bits.
    mode: int
    data: MemberData
    #: SHA-256 of the file, in hex.
    sha256: str


@dataclass(frozen=True)
class Written:
    """A file that was written: its size in bytes, and its SHA-256 in hex."""

    size: int
    sha256: str


def text_member(name: str, content: bytes, mode: int = 0o644) -> WheelMember:
    """Return a member made of a few bytes."""
    return WheelMember(name, mode, join([small_run(content)]), hashlib.sha256(content).hexdigest())


def joined_member(name: str, data: Joined) -> WheelMember:
    """Return a member made of runs whose digest nobody took yet."""
    return WheelMember(name, 0o644, data, inflated_sha256(data))


def _check_names(names: Iterable[str]) -> None:
    """Raise ToolError unless each name belongs to one file, and to no directory, and lies in site-packages."""
    counts = Counter(names)
    for name in sorted(counts):
        if {"", ".", ".."} & set(name.split("/")):
            raise ToolError(
                f"{name}: not a valid path in a wheel; expected a relative path without `..`, `.` and empty parts. "
                "Correct `files` or `import_name`, whichever it comes from"
            )
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise ToolError(f"{min(repeated)}: twice in one wheel; expected one file. Give one of them another path")
    directories = {"", "/"}
    for name in sorted(counts):
        parent = posixpath.dirname(name)
        while parent not in directories:
            if parent in counts:
                raise ToolError(
                    f"{parent}: is a file, and a directory with {name}, in one wheel. Give one of them another path"
                )
            directories.add(parent)
            parent = posixpath.dirname(parent)


def write_wheel(file: BinaryIO, members: list[WheelMember], dist_info: str) -> Written:
    """Write the archive with its RECORD, and return its size and digest.

    Raises ToolError when two members have one name, or one lies in another or outside of site-packages.
    """
    record_name = f"{dist_info}/RECORD"
    _check_names([record_name, *(member.name for member in members)])
    ordered = sorted(members, key=lambda member: (member.name.startswith(dist_info + "/"), member.name))
    rows = [(member.name, member.sha256, member.data.size) for member in ordered]
    record = text_member(record_name, record_text(rows, record_name).encode())
    with Output(file) as output:
        archive = ZipArchive(output, archive_time())
        for member in [*ordered, record]:
            archive.add(member.name, member.mode, member.data)
        archive.close()
        return Written(output.size, output.sha256)
