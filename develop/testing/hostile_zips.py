"""Archives that readers of zip take for different things, or refuse: one kind of damage each, to any wheel.

    data = hostile("local crc32 + 1", FAT.members(), "acme/__init__.py")

What installers and the package index say of each kind is in `wheels/tests/hostile_zips.tsv`.
"""

import zlib
from collections.abc import Callable, Mapping
from functools import partial
from struct import pack
from typing import Final

from develop.testing.zip_builder import END, MAX_16, MAX_32, UTF8, Archive, Header, Member, deflated, extra, wide

Edit = Callable[[Archive, Member], object]
KINDS: Final[dict[str, Edit]] = {}


def hostile(kind: str, files: Mapping[str, bytes], victim: str) -> bytes:
    """Return an archive of these files with one kind of damage, to the member `victim` if it is about one."""
    members = [Member(name, content) for name, content in files.items()]
    archive = Archive(members)
    KINDS[kind](archive, next(member for member in members if member.name == victim.encode()))
    return archive.build()


def _set(**values: object) -> Edit:
    """Change attributes of the member."""
    return lambda archive, member: vars(member).update(values)


def _whole(**values: object) -> Edit:
    """Change attributes of the archive."""
    return lambda archive, member: vars(archive).update(values)


def _number(place: str, name: str, change: Callable[[int], int]) -> Edit:
    """Change a number of one header, or of both."""

    def edit(archive: Archive, member: Member) -> None:
        value = change((member.central if place == "central" else member.local)[name])
        for header in member.headers(place):
            header[name] = value

    return edit


PLACES: Final = ("local", "central", "both")


def _to(value: int) -> Callable[[int], int]:
    return lambda old: value


def _plus(value: int) -> Callable[[int], int]:
    return lambda old: old + value


def _with_bit(bit: int) -> Callable[[int], int]:
    return lambda old: old | bit


def _add_headers() -> None:
    """Add kinds that change one number of a header."""
    for place in PLACES:
        for name in ("crc32", "compressed", "size"):
            KINDS[f"{place} {name} + 1"] = _number(place, name, _plus(1))
            KINDS[f"{place} {name} - 1"] = _number(place, name, _plus(-1))
            KINDS[f"{place} {name} is 0"] = _number(place, name, _to(0))
            KINDS[f"{place} {name} is all ones"] = _number(place, name, _to(MAX_32))
        for bit in range(16):
            KINDS[f"{place} flag {1 << bit:#06x}"] = _number(place, "flags", _with_bit(1 << bit))
        for method in (0, 1, 9, 12, 14, 93, 95, 97, 99, MAX_16):
            KINDS[f"{place} method {method}"] = _number(place, "method", _to(method))
        for version in (0, 10, 45, 63, 64, 99, 0x314, MAX_16):
            KINDS[f"{place} version {version}"] = _number(place, "version", _to(version))
        for name, value in (("time", MAX_16), ("date", 0), ("date", MAX_16)):
            KINDS[f"{place} {name} {value:#06x}"] = _number(place, name, _to(value))
    for name, value in (("disk", 1), ("disk", MAX_16), ("internal", 1), ("internal", MAX_16), ("made", 0x14)):
        KINDS[f"central {name} {value}"] = _number("central", name, _to(value))
    for what, mode in (("link", 0o120777), ("directory", 0o040755), ("device", 0o060644), ("pipe", 0o010644)):
        KINDS[f"mode of a {what}"] = _number("central", "external", _to(mode << 16))
    KINDS["mode 0"] = _number("central", "external", _to(0))
    KINDS["DOS's bit of directories"] = _number("central", "external", _with_bit(0x10))
    for shift in (-1, 1, 4, 30):
        KINDS[f"central offset {shift:+}"] = _set(shift=shift)


def _unicode_path(name: bytes, crc_of: bytes, version: int = 1) -> bytes:
    return extra(0x7075, pack("<BL", version, zlib.crc32(crc_of)) + name)


def _add_extras() -> None:
    """Add kinds that have to do with extra fields."""
    fields: dict[str, Callable[[Member], bytes]] = {
        "cut to 1 byte": lambda member: b"\1",
        "cut to 3 bytes": lambda member: b"\1\0\0",
        "longer than what is there": lambda member: pack("<2H", 0x5455, 9) + b"\0",
        "longer, behind a sound one": lambda member: extra(0xCAFE) + pack("<2H", 0xCAFE, 1),
        "zeros as padding, 3": lambda member: bytes(3),
        "zeros as padding, 4": lambda member: bytes(4),
        "unknown": lambda member: extra(0xBEEF, b"abc"),
        "unknown, twice": lambda member: extra(0xBEEF, b"abc") * 2,
        "time": lambda member: extra(0x5455, b"\1" + bytes(4)),
        "time, too short": lambda member: extra(0x5455, b"\7" + bytes(4)),
        "owner": lambda member: extra(0x7875, b"\1\4" + bytes(4) + b"\4" + bytes(4)),
        "encryption": lambda member: extra(0x9901, b"\2\0AE\3\10\0"),
        "strong encryption": lambda member: extra(0x0017, bytes(8)),
        "of 60,000 bytes": lambda member: extra(0xBEEF, bytes(60_000)),
        "zip64, empty": lambda member: wide(),
        "zip64, needless size": lambda member: wide(member.local["size"]),
        "zip64, needless sizes": lambda member: wide(member.local["size"], member.local["compressed"]),
        "zip64, needless and wrong sizes": lambda member: wide(7, 7),
        "zip64, needless sizes and offset": lambda member: wide(member.local["size"], member.local["compressed"], 0),
        "zip64, of 28 bytes": lambda member: extra(1, bytes(28)),
        "zip64, of 32 bytes": lambda member: extra(1, bytes(32)),
        "zip64, of 7 bytes": lambda member: extra(1, bytes(7)),
        "zip64, cut": lambda member: pack("<2H", 1, 16) + bytes(8),
        "Unicode path": lambda member: _unicode_path(member.name, member.name),
        "Unicode path, twice": lambda member: _unicode_path(member.name, member.name) * 2,
        "Unicode path, another name": lambda member: _unicode_path(b"acme/other.py", member.name),
        "Unicode path, another name, wrong CRC": lambda member: _unicode_path(b"acme/other.py", b""),
        "Unicode path, the name, wrong CRC": lambda member: _unicode_path(member.name, b""),
        "Unicode path, version 2": lambda member: _unicode_path(b"acme/other.py", member.name, 2),
        "Unicode path, empty": lambda member: _unicode_path(b"", member.name),
        "Unicode path, not UTF-8": lambda member: _unicode_path(b"acme/\xff.py", member.name),
        "Unicode path, NUL": lambda member: _unicode_path(member.name + b"\0", member.name),
        "Unicode path, outside": lambda member: _unicode_path(b"../../other.py", member.name),
        "Unicode path, cut": lambda member: extra(0x7075, b"\1\0\0"),
        "Unicode path, the second differs": lambda member: (
            _unicode_path(member.name, member.name) + _unicode_path(b"acme/other.py", member.name)
        ),
        "Unicode comment": lambda member: extra(0x6375, pack("<BL", 1, 0) + b"text"),
    }
    for what, make in fields.items():
        for place in PLACES:
            KINDS[f"{place} extra: {what}"] = partial(_extra, place, make)


def _extra(place: str, make: Callable[[Member], bytes], archive: Archive, member: Member) -> None:
    del archive
    for one in ("local", "central"):
        if place in (one, "both"):
            setattr(member, f"{one}_extra", make(member))


def _widened(place: str, count: int, fields: tuple[str, ...], times: int, archive: Archive, member: Member) -> None:
    del archive
    content = wide(*[member.local["size"], member.local["compressed"], 0][:count]) * times
    for header in member.headers(place):
        header.update(dict.fromkeys(fields, MAX_32))
    for one in ("local", "central"):
        if place in (one, "both"):
            setattr(member, f"{one}_extra", content)


def _add_zip64() -> None:
    """Add kinds whose headers say that sizes are in the zip64 field."""
    sizes, size = ("compressed", "size"), ("size",)
    for place in PLACES:
        KINDS[f"{place} zip64"] = partial(_widened, place, 2, sizes, 1)
        KINDS[f"{place} zip64, twice"] = partial(_widened, place, 2, sizes, 2)
        KINDS[f"{place} zip64, without the compressed size"] = partial(_widened, place, 1, sizes, 1)
        KINDS[f"{place} zip64, with an offset"] = partial(_widened, place, 3, sizes, 1)
        KINDS[f"{place} zip64, only the size"] = partial(_widened, place, 1, size, 1)
        KINDS[f"{place} zip64, only the size, and two values"] = partial(_widened, place, 2, size, 1)
    KINDS["central zip64 offset"] = _set(wide_offset=True)

    def second(archive: Archive, member: Member) -> None:
        member.both("compressed", MAX_32)
        member.both("size", MAX_32)
        size, compressed = len(member.content), len(member.data)
        member.extras(wide(size, compressed) + wide(size + 1, compressed))

    KINDS["both zip64, the second differs"] = second


def _described(stored: bool, edit: Callable[[Member], object], archive: Archive, member: Member) -> None:
    """Change a member that may be stored."""
    del archive
    if stored:
        vars(member).update(vars(Member(member.name.decode(), member.content, 0)))
    edit(member)


def _descriptor(layout: str, signature: bytes, wrong: str, member: Member) -> None:
    """Give a member a data descriptor, one field of which may be wrong."""
    changed = {wrong: member.central[wrong] + 1} if wrong else {}
    member.described(member.descriptor_fields(layout, signature, **changed))


def _add_descriptors() -> None:
    """Add kinds that have to do with data descriptors, of deflated and stored members."""
    edits: dict[str, Callable[[Member], object]] = {
        "missing": lambda member: member.described(b""),
        "of zeros": lambda member: member.described(bytes(16)),
        "of 13 bytes": lambda member: member.described(member.descriptor_fields("<3Lx")),
        "twice": lambda member: member.described(member.descriptor_fields("<3L") * 2),
        "cut": lambda member: member.described(member.descriptor_fields("<3L")[:-1]),
        "beside sizes": lambda member: member.described(member.descriptor_fields("<3L"), zeros=False),
        "missing, beside sizes": lambda member: member.described(b"", zeros=False),
        "without the flag": lambda member: setattr(member, "descriptor", member.descriptor_fields("<3L")),
        "of 64 bits, zip64 of zeros": _descriptor_zip64,
        "beside a wrong size": _descriptor_beside,
        "flag only local": partial(_descriptor_flag, "central"),
        "flag only central": partial(_descriptor_flag, "local"),
    }
    for what, layout in {"of 32 bits": "<3L", "of 64 bits": "<L2Q"}.items():
        for signed, signature in (("", b"PK\7\10"), (", unsigned", b"")):
            for wrong in ("", "crc32", "compressed", "size"):
                name = f"{what}{signed}{f', {wrong} + 1' if wrong else ''}"
                edits[name] = partial(_descriptor, layout, signature, wrong)
    for what, edit in edits.items():
        KINDS[f"descriptor {what}"] = partial(_described, False, edit)
        KINDS[f"stored, descriptor {what}"] = partial(_described, True, edit)


def _descriptor_zip64(member: Member) -> None:
    member.described(member.descriptor_fields("<L2Q", b"PK\7\10"))
    member.local.update({"compressed": MAX_32, "size": MAX_32})
    member.local_extra = wide(0, 0)


def _descriptor_beside(member: Member) -> None:
    member.described(member.descriptor_fields("<3L"), zeros=False)
    member.local["size"] += 1


def _descriptor_flag(place: str, member: Member) -> None:
    member.described(member.descriptor_fields("<3L"))
    for header in member.headers(place):
        header["flags"] = 0


def _add_ends() -> None:
    """Add kinds that have to do with the end records, and with bytes between and around."""
    for name in ("disk", "first", "here", "count", "length", "offset", "comment"):
        KINDS[f"end {name} + 1"] = _whole(end=Header({name: 1}))
    for name in ("here", "count", "length", "offset"):
        KINDS[f"end {name} - 1"] = _whole(end=Header({name: -1}))
    KINDS["end count of all - 1"] = _whole(end=Header({"here": -1, "count": -1}))
    KINDS["end count of all + 1"] = _whole(end=Header({"here": 1, "count": 1}))
    KINDS["end count of 0"] = _whole(end_values=Header({"here": 0, "count": 0}))
    ones = Header({"here": MAX_16, "count": MAX_16, "length": MAX_32, "offset": MAX_32})
    KINDS["end all ones, without zip64"] = _whole(end_values=ones)
    right, none = Header(), Header()
    KINDS["zip64 end, needless"] = _whole(zip64=right, locator=none)
    KINDS["zip64 end, all ones"] = _whole(zip64=right, locator=none, end_values=ones)
    KINDS["zip64 end without locator"] = _whole(zip64=right)
    KINDS["zip64 end without locator, all ones"] = _whole(zip64=right, end_values=ones)
    KINDS["locator without zip64 end"] = _whole(locator=none)
    for name in ("record", "disk", "first", "here", "count", "length", "offset"):
        KINDS[f"zip64 end {name} + 1"] = _whole(zip64=Header({name: 1}), locator=none, end_values=ones)
        KINDS[f"zip64 end, needless, {name} + 1"] = _whole(zip64=Header({name: 1}), locator=none)
    for name in ("disk", "offset", "disks"):
        KINDS[f"locator {name} + 1"] = _whole(zip64=right, locator=Header({name: 1}), end_values=ones)
    KINDS["locator disks of 0"] = _whole(zip64=right, locator=Header({"disks": -1}), end_values=ones)
    data = extra(0xBEEF, b"abcd")
    KINDS["zip64 end with data"] = _whole(
        zip64=Header({"record": len(data)}), zip64_data=data, locator=none, end_values=ones
    )
    KINDS["zip64 end, data that it does not count"] = _whole(
        zip64=right, zip64_data=data, locator=none, end_values=ones
    )
    empty = END.pack(b"PK\5\6", 0, 0, 0, 0, 0, 0, 0)
    for what, comment in {"text": b"text", "an end record": empty, "a signature": b"PK\5\6", "0 bytes": b"\0"}.items():
        KINDS[f"comment with {what}"] = _whole(comment=comment)
    KINDS["comment of 65,535 bytes"] = _whole(comment=bytes(MAX_16))
    KINDS["comment of a member"] = _set(comment=b"text")
    for count in (1, 4, 22, 70_000):
        KINDS[f"{count} bytes behind"] = _whole(behind=b"x" * count)
    KINDS["an empty archive behind"] = _whole(behind=empty)
    for count in (1, 10):
        KINDS[f"{count} bytes in front, counted"] = _whole(front=b"#" * count)
        KINDS[f"{count} bytes in front, not counted"] = _whole(front=b"#" * count, is_counted=False)
    KINDS["an empty archive in front"] = _whole(front=empty)
    KINDS["bytes between members"] = _set(front=b"between")
    KINDS["bytes before the directory"] = _whole(before_directory=b"before")
    KINDS["bytes behind the directory"] = _whole(behind_directory=b"behind")
    KINDS["digital signature"] = _whole(behind_directory=b"PK\5\5\2\0ab")
    KINDS["extra data record"] = _whole(before_directory=b"PK\6\x08\2\0\0\0ab")
    KINDS["directory in another order"] = _whole(is_reversed=True)
    KINDS["an end record between members"] = _set(front=empty)
    KINDS["a member that the directory lacks"] = lambda archive, member: archive.members.insert(0, _hidden())
    KINDS["a member that the directory lacks, of the same name"] = lambda archive, member: archive.members.insert(
        0, _hidden(member.name.decode())
    )
    KINDS["a member that only the directory has"] = lambda archive, member: archive.members.append(_absent())


def _hidden(name: str = "acme/hidden.py") -> Member:
    member = Member(name, b"hidden = 1\n")
    member.is_central = False
    return member


def _absent() -> Member:
    member = Member("acme/absent.py", b"")
    member.is_local = False
    return member


def _add_names() -> None:
    """Add kinds of names, each in one header or both, and of directories."""
    names = {
        "another": b"acme/other.py",
        "other case": b"Acme/__init__.py",
        "empty": b"",
        "with NUL": b"acme/__init__.py\0",
        "with NUL inside": b"acme/\0__init__.py",
        "with a newline": b"acme/\n.py",
        "with DEL": b"acme/\x7f.py",
        "with a backslash": b"acme\\__init__.py",
        "absolute": b"/acme/__init__.py",
        "outside": b"../acme/__init__.py",
        "with a dot part": b"./acme/__init__.py",
        "with an empty part": b"acme//__init__.py",
        "not UTF-8": b"acme/\xff.py",
        "UTF-8 without the flag": "acme/é.py".encode(),
        "with a slash behind": b"acme/__init__.py/",
        "a file as directory": b"acme/__init__.py/more.py",
        "of 66,000 bytes, nearly": b"acme/" + b"a" * 65_000,
    }
    for what, name in names.items():
        KINDS[f"local name {what}"] = _set(local_name=name)
        KINDS[f"central name {what}"] = _set(central_name=name)
        KINDS[f"both names {what}"] = _set(local_name=name, central_name=name)

    def flagged(name: bytes) -> Edit:
        def edit(archive: Archive, member: Member) -> None:
            member.both("flags", UTF8)
            member.local_name = member.central_name = name

        return edit

    KINDS["both names UTF-8 with the flag"] = flagged("acme/é.py".encode())
    KINDS["both names not UTF-8, with the flag"] = flagged(b"acme/\xff.py")
    KINDS["both names overlong UTF-8"] = flagged(b"acme/\xc0\xae\xc0\xae/x.py")
    KINDS["both names with a surrogate"] = flagged(b"acme/\xed\xa0\x80.py")

    def added(*members: Member) -> Edit:
        return lambda archive, member: archive.members.extend(members)

    KINDS["the same member twice"] = lambda archive, member: archive.members.append(member)
    KINDS["another member of the same name"] = lambda archive, member: archive.members.append(
        Member(member.name.decode(), b"x = 2\n")
    )
    KINDS["a member that differs in case"] = added(Member("acme/__INIT__.py", b"x = 2\n"))
    KINDS["a directory"] = added(Member("acme/", b"", 0))
    KINDS["a directory, deflated"] = added(Member("acme/", b""))
    KINDS["a directory with content"] = added(Member("acme/", b"content", 0))
    KINDS["a directory twice"] = added(Member("acme/", b"", 0), Member("acme/", b"", 0))
    KINDS["a file as a member's directory"] = added(Member("acme/__init__.py/more.py", b""))


def _add_data() -> None:
    """Add kinds whose bytes are not what headers say, though both say the same."""

    def data(make: Callable[[Member], bytes], method: int = 8, **said: int) -> Edit:
        def edit(archive: Archive, member: Member) -> None:
            member.data = make(member)
            member.both("compressed", len(member.data))
            member.both("method", method)
            for name, value in said.items():
                member.both(name, value)

        return edit

    KINDS["stored"] = data(lambda member: member.content, 0)
    KINDS["deflate, bytes behind the stream"] = data(lambda member: member.data + b"more")
    KINDS["deflate, a second stream"] = data(lambda member: member.data + deflated(b"more"))
    KINDS["deflate without final block"] = data(lambda member: deflated(member.content, end=False))
    KINDS["deflate, cut"] = data(lambda member: member.data[:-1])
    KINDS["deflate, no byte"] = data(lambda member: b"")
    KINDS["deflate, not a stream"] = data(lambda member: b"\xff" * 20)
    KINDS["zlib instead of deflate"] = data(lambda member: zlib.compress(member.content))
    KINDS["stored, more bytes than size"] = data(lambda member: member.content + b"more", 0)
    KINDS["stored, fewer bytes than size"] = data(lambda member: member.content[:-1], 0)
    KINDS["overlapping the next member"] = lambda archive, member: vars(archive.members[-2]).update(shift=-20)
    KINDS["nothing wrong"] = lambda archive, member: None


for _add in (_add_headers, _add_extras, _add_zip64, _add_descriptors, _add_ends, _add_names, _add_data):
    _add()
