"""Reads the structure of a zip archive: end records, central directory, local headers (APPNOTE.TXT 6.3.10, 4.3).

    archive = read_archive(file)

Python's zipfile, which installers use, believes the central directory and passes over much that other readers do not:
names that differ in the local header, members over each other, bytes between them. Here each is a `Trouble`. Nothing is
raised for what an archive holds, and no byte of a member is read.
"""

import os
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from struct import Struct
from typing import BinaryIO, Final

from lib.wheel.zip_members import (
    DEFLATED,
    FLAG_DESCRIPTOR,
    FLAG_ENCRYPTED,
    FLAG_PATCHED,
    FLAG_STRONG,
    FLAG_UTF8,
    STORED,
    Archive,
    Directory,
    Fault,
    Trouble,
    ZipMember,
    find_directory,
)

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


CENTRAL: Final = Struct("<4s4B4HL2L5H2L")
LOCAL: Final = Struct("<4s5HL2L2H")
#: A member without a byte of its name has 46 bytes in the directory: this many are ten times what any wheel has.
MAX_MEMBERS: Final = 1 << 20
#: The newest version that readers know (APPNOTE 4.4.3.2, 6.3.x).
MAX_VERSION: Final = 63
#: The longest data descriptor: signature, CRC-32, two sizes of 8 bytes (APPNOTE 4.3.9).
MAX_DESCRIPTOR: Final = 24


def read_archive(file: BinaryIO) -> Archive:
    """Read the archive open in `file` (seekable)."""
    size = file.seek(0, os.SEEK_END)
    directory = find_directory(file, size)
    if isinstance(directory, Trouble):
        return Archive(troubles=(directory,))
    troubles = list(directory.troubles)
    members = []
    try:
        for number, member in enumerate(_central(directory, troubles)):
            if number >= MAX_MEMBERS:
                raise ValueError(f"more than {MAX_MEMBERS} members")
            members.append(member)
    except ValueError as error:
        troubles.append(Trouble(Fault.UNREADABLE, "", f"the central directory at {directory.offset}: {error}"))
    if not troubles and len(members) != directory.count:
        evidence = f"the end record counts {directory.count} members, the central directory has {len(members)}"
        troubles.append(Trouble(Fault.MISMATCH, "", evidence))
    counts = Counter(member.name for member in members)
    troubles += [Trouble(Fault.DUPLICATE, name, f"{n} members") for name, n in sorted(counts.items()) if n > 1]
    read = [_with_data(file, member, directory.offset, troubles) for member in members]
    return Archive(tuple(_apart(file, read, directory, troubles)), tuple(troubles))


def _central(directory: Directory, troubles: list[Trouble]) -> Iterator[ZipMember]:
    """Yield the members; raises ValueError where the directory is damaged."""
    data, at = directory.data, 0
    while at < len(data):
        if at + CENTRAL.size > len(data) or data[at : at + 4] != b"PK\1\2":
            raise ValueError(f"no header at byte {at} of {len(data)}")
        fields = CENTRAL.unpack_from(data, at)
        host, flags, method, crc32, compressed, size = fields[2], *fields[5:7], *fields[9:12]
        name_size, extra_size, comment_size, attributes, header = *fields[12:15], *fields[17:19]
        start = at + CENTRAL.size
        raw, extra = data[start : start + name_size], data[start + name_size : start + name_size + extra_size]
        at = start + name_size + extra_size + comment_size
        if at > len(data):
            raise ValueError(f"the header of {raw!r} reaches beyond the directory of {len(data)} bytes")
        name, narrow = _decode(raw, flags), [size, compressed, header]
        size, compressed, header = wide_values(extra, narrow, raw)
        wrong = [*_wrong_name(name, raw, flags, size), *wrong_fields(extra, raw, narrow)]
        if fields[3] > MAX_VERSION:
            wrong.append(f"version {fields[3]}; expected {MAX_VERSION} at most")
        troubles += [Trouble(Fault.FIELD, name, one) for one in wrong]
        if comment_size:
            troubles.append(Trouble(Fault.UNUSUAL, name, f"a comment of {comment_size} bytes"))
        yield ZipMember(name, method, flags, crc32, compressed, size, header + directory.shift, 0, host, attributes)


def _decode(raw: bytes, flags: int) -> str:
    """Decode a name: UTF-8 if the flag says so, else code page 437 (APPNOTE, appendix D)."""
    return raw.decode("utf-8", "surrogateescape") if flags & FLAG_UTF8 else raw.decode("cp437")


def _wrong_name(name: str, raw: bytes, flags: int, size: int) -> Iterator[str]:
    if not raw.isascii() and not flags & FLAG_UTF8:
        yield "a name that is not ASCII, without the flag that says UTF-8"
    if name.endswith("/") and size:
        yield f"a directory with {size} bytes"


def _with_data(file: BinaryIO, member: ZipMember, limit: int, troubles: list[Trouble]) -> ZipMember:
    """Compare a member with its local header, and find where its bytes begin; `limit` is where members end."""
    data, is_wide, differences = _compare(file, member, limit, troubles)
    if differences:
        troubles.append(Trouble(Fault.MISMATCH, member.name, f"local header: {'; '.join(differences)}"))
    is_encrypted = member.flags & (FLAG_ENCRYPTED | FLAG_PATCHED | FLAG_STRONG)
    if is_encrypted or member.method not in (STORED, DEFLATED):
        how = "encrypted or patched" if is_encrypted else f"compression method {member.method}"
        troubles.append(Trouble(Fault.METHOD, member.name, f"{how}; expected 0 (stored) or 8 (deflated)"))
        return replace(member, data=data or 0, readable=False)
    return replace(member, data=data or 0, readable=data is not None, is_wide=is_wide)


def _compare(
    file: BinaryIO, member: ZipMember, limit: int, troubles: list[Trouble]
) -> tuple[int | None, bool, list[str]]:
    """Return where the bytes begin (None if they cannot be there), whether sizes are wide, and what differs."""
    if member.header < 0 or member.header + LOCAL.size > limit:
        return None, False, [f"at {member.header}, where the archive has {limit} bytes of members"]
    file.seek(member.header)
    head = file.read(LOCAL.size)
    if head[:4] != b"PK\3\4":
        return None, False, [f"at {member.header} there is {head[:4]!r}, not the signature"]
    _, version, flags, method, _, _, crc32, compressed, size, name_size, extra_size = LOCAL.unpack(head)
    names = file.read(name_size + extra_size)
    raw, extra = names[:name_size], names[name_size:]
    data = member.header + LOCAL.size + name_size + extra_size
    if data + member.compressed > limit:
        return (
            None,
            False,
            [f"{member.compressed} bytes from {data} on, where the archive has {limit} bytes of members"],
        )
    wrong = list(wrong_fields(extra, raw, [size, compressed], is_local=True))
    if version & 0xFF > MAX_VERSION:
        wrong.append(f"version {version & 0xFF}; expected {MAX_VERSION} at most")
    troubles += [Trouble(Fault.FIELD, member.name, f"local header: {one}") for one in wrong]
    is_wide = size == compressed == LIMIT_32
    try:
        size, compressed = wide_values(extra, [size, compressed], raw)
    except ValueError as error:
        return data, is_wide, [str(error)]
    pairs = [
        ("name", _decode(raw, flags), member.name),
        ("method", method, member.method),
        ("flags", flags, member.flags),
        ("CRC-32", crc32, member.crc32),
        ("compressed size", compressed, member.compressed),
        ("size", size, member.size),
    ]
    late = flags & FLAG_DESCRIPTOR  # Then CRC-32 and sizes stand behind the bytes, and zeros here.
    return (
        data,
        is_wide,
        [
            f"{what} {here!r}, central directory {there!r}"
            for number, (what, here, there) in enumerate(pairs)
            if here != there and not (late and number > 2 and here in (0, LIMIT_32))
        ],
    )


def _apart(
    file: BinaryIO, members: list[ZipMember], directory: Directory, troubles: list[Trouble]
) -> Iterator[ZipMember]:
    """Yield the members in their order, those that lie over others marked as not readable; report bytes of nobody."""
    overlapping: set[int] = set()
    gaps: list[tuple[ZipMember | None, int, int]] = []
    end, last = 0, -1
    for index in sorted(range(len(members)), key=lambda index: (members[index].header, index)):
        member = members[index]
        if not member.data:
            continue
        if last >= 0 and member.header < end:
            troubles.append(
                Trouble(Fault.OVERLAP, member.name, f"begins at {member.header}, inside {members[last].name}")
            )
            overlapping |= {index, last}
        else:
            gaps.append((members[last] if last >= 0 else None, end, member.header))
        if member.data + member.compressed >= end:
            end, last = member.data + member.compressed, index
    if members and all(member.data for member in members):
        gaps.append((members[last], end, directory.offset))
    _report_gaps(file, gaps, troubles)
    for index, member in enumerate(members):
        yield replace(member, readable=False) if index in overlapping else member


def _report_gaps(file: BinaryIO, gaps: list[tuple[ZipMember | None, int, int]], troubles: list[Trouble]) -> None:
    """Report what lies behind members, up to where the next one starts: data descriptors, and bytes of nobody."""
    described = []
    for before, end, start in gaps:
        if before is not None and before.flags & FLAG_DESCRIPTOR:
            allowed = descriptors(before)
            file.seek(end)
            found = file.read(min(start - end, MAX_DESCRIPTOR + 1))
            if found in allowed:
                described.append(before.name)
            else:
                evidence = f"behind its bytes is {found.hex() or 'nothing'}; expected the data descriptor "
                evidence += allowed[0].hex() if allowed else "of a member over 4 GiB, which has a zip64 field"
                troubles.append(Trouble(Fault.MISMATCH, before.name, evidence))
        elif start != end:
            troubles.append(Trouble(Fault.STRAY, "", f"{start - end} bytes from {end} on belong to no member"))
    if described:
        troubles.append(Trouble(Fault.UNUSUAL, described[0], f"{len(described)} members have data descriptors"))
