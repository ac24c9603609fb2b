"""Finds the central directory of a zip archive, with or without zip64 (APPNOTE.TXT 4.3.14 to 4.3.16)."""

from dataclasses import dataclass
from struct import Struct
from typing import BinaryIO, Final

from lib.wheel.zip_members import Fault, Trouble

END: Final = Struct("<4s4H2LH")
ZIP64_LOCATOR: Final = Struct("<4sLQL")
ZIP64_END: Final = Struct("<4sQ2H2L4Q")
#: A comment has at most 65,535 bytes.
MAX_COMMENT: Final = 0xFFFF
#: More bytes of directory than this are damage.
MAX_DIRECTORY: Final = 1 << 28


@dataclass(frozen=True)
class Directory:
    """The central directory as bytes, and where it lies."""

    data: bytes
    offset: int
    """File offset of its first byte."""
    shift: int
    """What is to be added to the offsets in it: bytes in front of the archive shift all."""
    count: int
    """How many members the end record counts."""
    troubles: tuple[Trouble, ...]


def find_directory(file: BinaryIO, size: int) -> Directory | Trouble:
    """Find and read the directory of a file of `size` bytes; the trouble if that cannot be."""
    tail_size = min(size, END.size + MAX_COMMENT)
    file.seek(size - tail_size)
    tail = file.read(tail_size)
    at = _end_record(tail)
    if at < 0:
        return Trouble(Fault.UNREADABLE, "", "no end record (PK\\5\\6) in the last 64 KiB: not a zip archive, or cut")
    _, disk, first_disk, _, count, length, offset, comment = END.unpack_from(tail, at)
    position = size - tail_size + at
    troubles = []
    if disk or first_disk:
        return Trouble(Fault.UNREADABLE, "", f"it is part {disk} of an archive of several files")
    behind = size - position - END.size - comment
    if behind:
        troubles.append(Trouble(Fault.STRAY, "", f"{behind} bytes behind the end record and its comment"))
    if comment:
        troubles.append(Trouble(Fault.STRAY, "", f"the archive has a comment of {comment} bytes"))
    wide = _zip64_end(file, position)
    if isinstance(wide, Trouble):
        return wide
    if wide is not None:
        position, count, length, offset = wide
    start = position - length
    if start < 0 or length > MAX_DIRECTORY:
        evidence = f"the end record at {position} claims a central directory of {length} bytes"
        return Trouble(Fault.UNREADABLE, "", evidence)
    if start != offset:
        evidence = (
            f"the central directory lies at {start}, the end record says {offset}: bytes were put in or taken out"
        )
        troubles.append(Trouble(Fault.STRAY, "", evidence))
    file.seek(start)
    return Directory(file.read(length), start, start - offset, count, tuple(troubles))


def _end_record(tail: bytes) -> int:
    """Return where the end record begins: the last whose comment fits, as zipfile looks for it; -1 without one."""
    exact = len(tail) - END.size
    if exact >= 0 and tail[exact : exact + 4] == b"PK\5\6" and tail[-2:] == b"\0\0":
        return exact
    at = tail.rfind(b"PK\5\6")
    return at if 0 <= at <= exact else -1


def _zip64_end(file: BinaryIO, position: int) -> tuple[int, int, int, int] | Trouble | None:
    """Return position, count, length and offset from the zip64 end record, if a locator is in front of the other."""
    if position < ZIP64_LOCATOR.size:
        return None
    file.seek(position - ZIP64_LOCATOR.size)
    signature, _, record, _ = ZIP64_LOCATOR.unpack(file.read(ZIP64_LOCATOR.size))
    if signature != b"PK\6\7":
        return None
    place = position - ZIP64_LOCATOR.size - ZIP64_END.size
    if place < 0:
        return Trouble(Fault.UNREADABLE, "", "there is a zip64 locator and no room for its end record")
    file.seek(place)
    fields = ZIP64_END.unpack(file.read(ZIP64_END.size))
    if fields[0] != b"PK\6\6":
        return Trouble(Fault.UNREADABLE, "", f"no zip64 end record at {place}; the locator says {record}")
    return place, fields[7], fields[8], fields[9]
