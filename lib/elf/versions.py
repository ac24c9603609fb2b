"""The symbol versions that a file imports, and those that it defines (LSB Core, "Symbol Versioning").

Names are offsets into the dynamic string table. Nothing is trusted: a table that does not end is an ElfError.
"""

from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Final, NamedTuple

from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.source import MAX_COUNT, Source

VERNEED: Final = Struct("<HHIII")
VERNAUX: Final = Struct("<IHHII")
VERDEF: Final = Struct("<HHHHIII")
VERDAUX: Final = Struct("<II")


class Version(NamedTuple):
    """A version: the offset of its name in the dynamic string table, its number, and its flags."""

    name: int
    number: int
    flags: int


class VersionEntry(NamedTuple):
    """An Elf64_Verneed or Elf64_Verdef: its file offset, its vn_file (0 of a Verdef), and its versions.

    Of a Verdef these are the version itself, and behind it those that it builds on.
    """

    position: int
    file: int
    versions: list[Version]


def verneed_entries(source: Source, elf: ElfFile) -> list[VersionEntry]:
    """Return what the file needs of other libraries (LSB Core, "Symbol Version Requirements")."""
    walk = _walk(source, elf, (c.DT_VERNEED, c.DT_VERNEEDNUM), (VERNEED, VERNAUX), "a symbol version requirement")
    return [
        VersionEntry(at, file, [Version(name, number, flags) for _, flags, number, name, _ in more])
        for at, (_, _, file, _, _), more in walk
    ]


def verdef_entries(source: Source, elf: ElfFile) -> list[VersionEntry]:
    """Return what the file defines (LSB Core, "Symbol Version Definitions")."""
    walk = _walk(source, elf, (c.DT_VERDEF, c.DT_VERDEFNUM), (VERDEF, VERDAUX), "a symbol version definition")
    return [
        VersionEntry(at, 0, [Version(name, number, flags) for name, _ in more])
        for at, (_, flags, number, *_), more in walk
    ]


def _walk(
    source: Source, elf: ElfFile, tags: tuple[int, int], layouts: tuple[Struct, Struct], what: str
) -> Iterator[tuple[int, tuple[int, ...], list[tuple[int, ...]]]]:
    """Yield each entry of a chain: its file offset, its fields, and the fields of its auxiliary entries.

    `tags` are the dynamic entries with the address and the number of entries, `layouts` the structures of both kinds.
    """
    address, count = elf.dynamic_value(tags[0]), elf.dynamic_value(tags[1]) or 0
    if address is None or not count:
        return
    at = elf.offset_of(address)
    if at is None:
        raise source.error(elf.dynamic[0].position, f"{what} at {address:#x} is in no PT_LOAD segment")
    total = 0
    for _ in range(count):
        fields = source.unpack(layouts[0], at, what)
        versions, (aux, following) = fields[1 if layouts[0] is VERNEED else 3], fields[-2:]
        total += versions + 1
        if total > MAX_COUNT:
            raise source.error(at, f"{what} is one of more than {MAX_COUNT}")
        more: list[tuple[int, ...]] = []
        aux += at
        for _ in range(versions):
            more.append(source.unpack(layouts[1], aux, what))
            if not more[-1][-1]:
                break
            aux += more[-1][-1]
        yield at, fields, more
        if not following:
            break
        at += following


def name_hash(name: bytes) -> int:
    """Return the hash of a name (gABI, "Hash Table")."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        value = (value ^ value >> 24 & 0xF0) & 0xFFFFFFF
    return value


def version_definitions(names: Mapping[int, tuple[bytes, int]]) -> bytes:
    """Return an Elf64_Verdef and its Elf64_Verdaux for each version: number -> name, and its offset in .dynstr.

    The first is 1, the file itself. (LSB Core, "Symbol Version Definitions".)
    """
    size, last = VERDEF.size + VERDAUX.size, max(names)
    return b"".join(
        VERDEF.pack(
            1, c.VER_FLG_BASE * (number == 1), number, 1, name_hash(name), VERDEF.size, size * (number != last)
        ) + VERDAUX.pack(at, 0)
        for number, (name, at) in sorted(names.items())
    )  # fmt: skip
