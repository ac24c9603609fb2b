"""The structure of a zip archive as facts: members, and what is wrong between them. Read by `zip_reader`.

Names are as in APPNOTE.TXT, PKWARE's specification of the format.
"""

import enum
import stat
from dataclasses import dataclass
from typing import Final

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
