"""Parts of zip headers that readers take for different things: extra fields, and data descriptors (APPNOTE 4.3.9, 4.5).

A part is right if a writer that means only one thing would write it. Everything else, some installer refuses.
"""

import zlib
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

from lib.wheel.zip_members import ZipMember

LIMIT_32: Final = 0xFFFFFFFF
ZIP64_ID: Final = 0x0001
UNICODE_PATH_ID: Final = 0x7075
#: Fields of encrypted members: AES, strong encryption.
ENCRYPTION_IDS: Final = (0x9901, 0x0017)
_FIELD: Final = Struct("<2H")
_UNICODE_PATH: Final = Struct("<BL")
_NARROW: Final = Struct("<3L")
_WIDE: Final = Struct("<L2Q")


def extra_fields(extra: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the identifier and the content of each extra field; the last one may be cut off."""
    at = 0
    while at + _FIELD.size <= len(extra):
        kind, length = _FIELD.unpack_from(extra, at)
        at += _FIELD.size
        yield kind, extra[at : at + length]
        at += length


def wide_values(extra: bytes, values: Sequence[int], name: bytes) -> list[int]:
    """Take the values that are too large for 32 bits from the zip64 field. Raises ValueError if it is too short."""
    found = next((content for kind, content in extra_fields(extra) if kind == ZIP64_ID), None)
    result, used = [], 0
    for value in values:
        if value == LIMIT_32 and found is not None:
            if used + 8 > len(found):
                raise ValueError(f"the zip64 field of {name!r} is too short")
            value, used = int.from_bytes(found[used : used + 8], "little"), used + 8
        result.append(value)
    return result


def wrong_fields(extra: bytes, name: bytes, values: Sequence[int], *, is_local: bool = False) -> Iterator[str]:
    """Say what is wrong with the extra fields of a header, whose `values` zip64 can hold."""
    seen: set[int] = set()
    wide = 8 * sum(value == LIMIT_32 for value in values)
    # A local header has all of them, also if it repeats them, as protobuf's wheels do.
    least = 8 * len(values) if is_local else 8
    repeated = b"".join(value.to_bytes(8, "little") for value in values)
    for kind, content in extra_fields(extra):
        if kind in seen:
            yield f"the extra field {kind:#06x} twice"
        seen.add(kind)
        if kind == ZIP64_ID and (len(content) != wide or wide < least) and not (is_local and content == repeated):
            yield f"a zip64 field of {len(content)} bytes beside {wide // 8} values that need it"
        if kind == UNICODE_PATH_ID and content != _UNICODE_PATH.pack(1, zlib.crc32(name)) + name:
            yield "a Unicode path field with another name"
        if kind in ENCRYPTION_IDS:
            yield f"the extra field {kind:#06x}, which encrypted members have"
    if _is_cut(extra):
        yield f"{len(extra)} bytes of extra fields, the last of which is cut off"


def _is_cut(extra: bytes) -> bool:
    at = 0
    while at + _FIELD.size <= len(extra):
        at += _FIELD.size + _FIELD.unpack_from(extra, at)[1]
    return at != len(extra)


def descriptors(member: ZipMember) -> tuple[bytes, ...]:
    """Return the data descriptors that a member may have: the signature is optional, and zip64 decides the size."""
    layout = _WIDE if member.is_wide else _NARROW
    if not member.is_wide and max(member.compressed, member.size) > LIMIT_32:
        return ()
    fields = layout.pack(member.crc32, member.compressed, member.size)
    return b"PK\7\10" + fields, fields
