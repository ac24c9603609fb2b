"""The structure of a zip archive as facts: members, and what is wrong between them. Read by `zip_reader`.

Names are as in APPNOTE.TXT, PKWARE's specification of the format.
"""

import enum
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import BinaryIO, Final

STORED: Final = 0
DEFLATED: Final = 8
#: General purpose bit flags (APPNOTE 4.4.4).
FLAG_ENCRYPTED: Final = 0x1
FLAG_DESCRIPTOR: Final = 0x8
FLAG_PATCHED: Final = 0x20
FLAG_STRONG: Final = 0x40
FLAG_UTF8: Final = 0x800
#: "version made by": the upper byte (APPNOTE 4.4.2).
HOST_UNIX: Final = 3


class Fault(enum.Enum):
    """The kinds of trouble that an archive can have by itself."""

    UNREADABLE = "unreadable"
    """There is no end record or no whole central directory: nothing can be read."""
    DUPLICATE = "duplicate"
    """Two members have one name."""
    MISMATCH = "mismatch"
    """Two records contradict each other: a local header or data descriptor and the directory, or end records."""
    FIELD = "field"
    """A part of a header that readers take for different things, or refuse."""
    UNUSUAL = "unusual"
    """Data descriptors that are right, and comments: installers read them, and an index may refuse them."""
    OVERLAP = "overlap"
    """Members share bytes."""
    STRAY = "stray"
    """Bytes that belong to no member, and to no record."""
    METHOD = "method"
    """Encrypted, or compressed otherwise than by deflate."""


@dataclass(frozen=True)
class Trouble:
    """One fault of the archive; `member` is empty where it is about no single one."""

    fault: Fault
    member: str
    evidence: str


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One entry of the central directory. Sizes and offsets are bytes, offsets those in the file."""

    name: str
    method: int
    flags: int
    crc32: int
    compressed: int
    size: int
    header: int
    """Where its local header begins."""
    data: int
    """Where its bytes begin; 0 if it is not `readable`."""
    host: int
    attributes: int
    is_wide: bool = False
    """Whether its local header has sizes of 64 bits."""
    readable: bool = True
    """Whether its bytes can be found, and overlap with no other member's."""

    @property
    def is_directory(self) -> bool:
        """Whether the member is a directory: its name ends in `/`."""
        return self.name.endswith("/")

    @property
    def mode(self) -> int:
        """st_mode, type and permissions; 0 if the archive was not made on Unix."""
        return self.attributes >> 16 if self.host == HOST_UNIX else 0

    @property
    def is_special(self) -> bool:
        """Whether it claims to be a link, a device or the like, not a regular file or a directory."""
        return stat.S_IFMT(self.mode) not in (0, stat.S_IFREG, stat.S_IFDIR)


@dataclass(frozen=True)
class Archive:
    """The central directory, in its order, and all that is wrong with the archive."""

    members: tuple[ZipMember, ...] = ()
    troubles: tuple[Trouble, ...] = ()

    @property
    def damage(self) -> Trouble | None:
        """The first trouble that makes readers disagree; None if they all read the same."""
        return next((one for one in self.troubles if one.fault is not Fault.UNUSUAL), None)


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


def _why_none(file: BinaryIO, size: int) -> str:
    """Say why a file of `size` bytes has no end record."""
    file.seek(0)
    head = file.read(8)
    if head.startswith(b"PK"):
        return f"cut off after {size} bytes: there is no end record (PK\\5\\6)"
    return f"begins with {head!r}, not with b'PK': this is another file, not a zip archive" if size else "is empty"


def find_directory(file: BinaryIO, size: int) -> Directory | Trouble:
    """Find and read the directory of a file of `size` bytes; the trouble if that cannot be."""
    tail_size = min(size, END.size + MAX_COMMENT)
    file.seek(size - tail_size)
    tail = file.read(tail_size)
    at = _end_record(tail)
    if at < 0:
        return Trouble(Fault.UNREADABLE, "", _why_none(file, size))
    _, disk, first_disk, here, count, length, offset, comment = END.unpack_from(tail, at)
    position = size - tail_size + at
    troubles = []
    if disk or first_disk:
        return Trouble(Fault.UNREADABLE, "", f"it is part {disk} of an archive of several files")
    behind = size - position - END.size - comment
    if behind:
        troubles.append(Trouble(Fault.STRAY, "", f"{behind} bytes behind the end record and its comment"))
    if comment:
        troubles.append(Trouble(Fault.UNUSUAL, "", f"the archive has a comment of {comment} bytes"))
    wide = _zip64_end(file, position)
    if isinstance(wide, Trouble):
        return wide
    contradictions = [f"{here} members on its disk, {count} in all"] if here != count else []
    if wide is not None:
        narrow = {"count": count, "length": length, "offset": offset}
        position, count, length, offset = wide.position, wide.count, wide.length, wide.offset
        contradictions += wide.contradictions(position - length - offset, narrow)
    start = position - length
    if start < 0 or length > MAX_DIRECTORY:
        evidence = f"the end record at {position} claims a central directory of {length} bytes"
        return Trouble(Fault.UNREADABLE, "", evidence)
    if start != offset:
        evidence = (
            f"the central directory lies at {start}, the end record says {offset}: bytes were put in or taken out"
        )
        troubles.append(Trouble(Fault.STRAY, "", evidence))
    troubles += [Trouble(Fault.MISMATCH, "", f"end records: {one}") for one in contradictions]
    file.seek(start)
    return Directory(file.read(length), start, start - offset, count, tuple(troubles))


def _end_record(tail: bytes) -> int:
    """Return where the end record begins: the last whose comment fits, as zipfile looks for it; -1 without one."""
    exact = len(tail) - END.size
    if exact >= 0 and tail[exact : exact + 4] == b"PK\5\6" and tail[-2:] == b"\0\0":
        return exact
    at = tail.rfind(b"PK\5\6")
    return at if 0 <= at <= exact else -1


@dataclass(frozen=True)
class _WideEnd:
    """The zip64 end record, and where its locator says that it is."""

    position: int
    locator: tuple[int, int, int]
    """Disk, offset, number of disks."""
    record_size: int
    disks: tuple[int, int]
    here: int
    count: int
    length: int
    offset: int

    def contradictions(self, shift: int, narrow: Mapping[str, int]) -> Iterator[str]:
        """Say what contradicts other records; `narrow` are the fields of the other end record."""
        disk, offset, disks = self.locator
        if disk or disks not in (0, 1) or any(self.disks):
            yield "zip64 says that the archive has several files"
        if offset + shift != self.position:
            yield f"the locator says {offset + shift}, the zip64 end record is at {self.position}"
        if self.record_size != ZIP64_END.size - 12:
            yield f"the zip64 end record has {self.record_size} bytes; expected {ZIP64_END.size - 12}"
        if self.here != self.count:
            yield f"zip64 says {self.here} members on its disk, {self.count} in all"
        for name, value in narrow.items():
            limit = 0xFFFF if name == "count" else 0xFFFFFFFF
            if value not in (limit, wide := getattr(self, name)):
                yield f"{name} is {value}, and {wide} in zip64"


def _zip64_end(file: BinaryIO, position: int) -> _WideEnd | Trouble | None:
    """Return the zip64 end record, if a locator is in front of the other."""
    if position < ZIP64_LOCATOR.size:
        return None
    file.seek(position - ZIP64_LOCATOR.size)
    signature, *locator = ZIP64_LOCATOR.unpack(file.read(ZIP64_LOCATOR.size))
    if signature != b"PK\6\7":
        return None
    place = position - ZIP64_LOCATOR.size - ZIP64_END.size
    if place < 0:
        return Trouble(Fault.UNREADABLE, "", "there is a zip64 locator and no room for its end record")
    file.seek(place)
    signature, size, _, _, *fields = ZIP64_END.unpack(file.read(ZIP64_END.size))
    if signature != b"PK\6\6":
        return Trouble(Fault.UNREADABLE, "", f"no zip64 end record at {place}; the locator says {locator[1]}")
    disk, first, here, count, length, offset = fields
    return _WideEnd(place, (locator[0], locator[1], locator[2]), size, (disk, first), here, count, length, offset)
