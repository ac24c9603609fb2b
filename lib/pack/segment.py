"""Segments: the interface between pack and link.

A segment file holds, one after the other, the deflated bytes of a unit's entries, each
a run of joined blocks without a final one. Its index says of each entry where its run
lies, how large it is inflated, and its CRC-32 and SHA-256: all that a zip or tar
directory and a RECORD ask for. So `link` never looks into the bytes.
"""

from dataclasses import asdict, dataclass, field
from typing import Any, Final


@dataclass(frozen=True)
class Levels:
    """Levels of compression."""

    deflate: int
    """libdeflate's level."""
    zstd: int
    """zstd's level, for device code that comes compressed and loses some."""
    stores_dense: bool = True
    """Whether blocks that deflate would hardly shrink, because they are compressed already, are stored at once."""


#: By the build setting `compression`.
LEVELS: Final = {
    "balanced": Levels(deflate=5, zstd=3),
    "fast": Levels(deflate=1, zstd=1),
    "small": Levels(deflate=10, zstd=9, stores_dense=False),
}


@dataclass(frozen=True)
class Packed:
    """One entry in a segment."""

    path: str
    #: Permission bits, octal.
    mode: str
    #: Byte offset of the run in the segment, and its length in bytes.
    offset: int
    length: int
    #: Of the inflated bytes: their number, their CRC-32 (as zip has it) and their SHA-256 in hex.
    size: int
    crc32: int
    sha256: str


@dataclass(frozen=True)
class SegmentIndex:
    """Entries of a segment, and the digests of sources that must be compared."""

    entries: tuple[Packed, ...]
    #: source -> SHA-256 in hex of the unpatched file.
    source_sha256: dict[str, str]
    #: path -> what an ELF edit gave up, such as RELRO of a dynamic section that had to move.
    notes: dict[str, list[str]] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """Return the index as JSON data."""
        entries = [asdict(entry) for entry in self.entries]
        return {"entries": entries, "source_sha256": self.source_sha256, "notes": self.notes}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "SegmentIndex":
        """Read what `to_document` wrote."""
        entries = tuple(Packed(**entry) for entry in document["entries"])
        return cls(entries, document["source_sha256"], document["notes"])
