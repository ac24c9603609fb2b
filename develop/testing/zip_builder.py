"""Writes zip archives in which every number can be wrong. Names are as in APPNOTE.TXT 6.3.10.

Everything around what a test changes is right: offsets, counts and sizes follow it.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import Struct, pack
from typing import Final

LOCAL: Final = Struct("<4s5HL2L2H")
CENTRAL: Final = Struct("<4s6HL2L5H2L")
END: Final = Struct("<4s4H2LH")
ZIP64_END: Final = Struct("<4sQ2H2L4Q")
LOCATOR: Final = Struct("<4sLQL")
MAX_16: Final = 0xFFFF
MAX_32: Final = 0xFFFFFFFF
DESCRIPTOR: Final = 8
UTF8: Final = 0x800


def deflated(content: bytes, *, end: bool = True) -> bytes:
    """Deflate bytes; without `end`, the stream has no final block."""
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(content) + deflater.flush(zlib.Z_FINISH if end else zlib.Z_SYNC_FLUSH)


def extra(kind: int, content: bytes = b"") -> bytes:
    """Return an extra field (APPNOTE 4.5.1)."""
    return pack("<2H", kind, len(content)) + content


def wide(*values: int) -> bytes:
    """Return a zip64 extended information field (APPNOTE 4.5.3)."""
    return extra(1, pack(f"<{len(values)}Q", *values))


class Header(dict[str, int]):
    """The fields of a header that are numbers, by APPNOTE's names, shortened."""


class Member:
    """One member: its bytes, and what both of its headers say."""

    def __init__(self, name: str, content: bytes, method: int = 8) -> None:
        """Say what is right."""
        self.name = self.local_name = self.central_name = name.encode()
        self.content = content
        self.data = deflated(content) if method else content
        sizes = {"crc32": zlib.crc32(content), "compressed": len(self.data), "size": len(content)}
        common = {"version": 20, "flags": 0, "method": method, "time": 0, "date": 0x21, **sizes}
        self.local = Header(common)
        self.central = Header({**common, "made": 0x314, "disk": 0, "internal": 0, "external": 0o100644 << 16})
        self.local_extra = self.central_extra = self.comment = self.descriptor = self.front = b""
        self.shift = 0
        """What is added to its offset."""
        self.wide_offset: bool = False
        """Whether the offset is in the zip64 field."""
        self.is_local = self.is_central = True

    def headers(self, place: str) -> list[Header]:
        """Return the headers of a place: local, central or both."""
        return [header for one, header in (("local", self.local), ("central", self.central)) if place in (one, "both")]

    def both(self, name: str, value: int) -> None:
        """Say the same in both headers."""
        self.local[name] = self.central[name] = value

    def extras(self, content: bytes) -> None:
        """Give both headers an extra field."""
        self.local_extra = self.central_extra = content

    def described(self, descriptor: bytes, *, zeros: bool = True) -> None:
        """Let a data descriptor follow (APPNOTE 4.3.9)."""
        self.both("flags", DESCRIPTOR)
        self.descriptor = descriptor
        if zeros:
            self.local.update({"crc32": 0, "compressed": 0, "size": 0})

    def descriptor_fields(self, layout: str, signature: bytes = b"PK\7\10", **changed: int) -> bytes:
        """Return a data descriptor, with changed fields."""
        right = {one: self.central[one] for one in ("crc32", "compressed", "size")}
        return signature + pack(layout, *{**right, **changed}.values())

    def write_local(self) -> bytes:
        """Return the local header with the bytes, and the descriptor."""
        fields = (self.local[one] for one in ("version", "flags", "method", "time", "date", "crc32"))
        sizes = (self.local["compressed"], self.local["size"], len(self.local_name), len(self.local_extra))
        head = LOCAL.pack(b"PK\3\4", *fields, *sizes)
        return head + self.local_name + self.local_extra + self.data + self.descriptor

    def write_central(self, offset: int) -> bytes:
        """Return the header in the central directory."""
        fields = (self.central[one] for one in ("made", "version", "flags", "method", "time", "date", "crc32"))
        sizes = (self.central["compressed"], self.central["size"])
        extras = self.central_extra + (wide(offset) if self.wide_offset else b"")
        lengths = (len(self.central_name), len(extras), len(self.comment))
        rest = (self.central["disk"], self.central["internal"], self.central["external"])
        place = MAX_32 if self.wide_offset else offset + self.shift
        head = CENTRAL.pack(b"PK\1\2", *fields, *sizes, *lengths, *rest, place)
        return head + self.central_name + extras + self.comment


@dataclass
class Archive:
    """All members, and what comes behind them. Changes of the end records are added to what is right."""

    members: list[Member]
    front: bytes = b""
    is_counted: bool = True
    """Whether offsets count the bytes in front."""
    before_directory: bytes = b""
    behind_directory: bytes = b""
    is_reversed: bool = False
    """Whether the directory has another order than the members."""
    end: Header = field(default_factory=Header)
    end_values: Header = field(default_factory=Header)
    """Values of the end record instead of those that are right."""
    zip64: Header | None = None
    locator: Header | None = None
    zip64_data: bytes = b""
    comment: bytes = b""
    behind: bytes = b""

    def build(self) -> bytes:
        """Return the archive."""
        body, directory, count = self.front, b"", 0
        start = len(self.front) if not self.is_counted else 0
        offsets = {}
        for member in self.members:
            body += member.front
            offsets[member.name] = len(body) - start
            body += member.write_local() if member.is_local else b""
        for member in reversed(self.members) if self.is_reversed else self.members:
            if member.is_central:
                directory, count = directory + member.write_central(offsets[member.name]), count + 1
        body += self.before_directory
        right = Header({"disk": 0, "first": 0, "here": count, "count": count, "length": len(directory)})
        right["offset"] = len(body) - start
        body += directory + self.behind_directory
        return body + self._wide_end(right, len(body) - start) + self._end(right) + self.behind

    def _wide_end(self, right: Header, at: int) -> bytes:
        found = b""
        if self.zip64 is not None:
            values = _added({**right, "record": 44, "made": 0x32D, "version": 45}, self.zip64)
            order = ("record", "made", "version", "disk", "first", "here", "count", "length", "offset")
            found += ZIP64_END.pack(b"PK\6\6", *(values[one] for one in order)) + self.zip64_data
        if self.locator is not None:
            values = _added({"disk": 0, "offset": at, "disks": 1}, self.locator)
            found += LOCATOR.pack(b"PK\6\7", *values.values())
        return found

    def _end(self, right: Header) -> bytes:
        values = {**_added({**right, "comment": len(self.comment)}, self.end), **self.end_values}
        return END.pack(b"PK\5\6", *values.values()) + self.comment


def _added(right: Mapping[str, int], added: Mapping[str, int]) -> dict[str, int]:
    return {name: value + added.get(name, 0) for name, value in right.items()}
