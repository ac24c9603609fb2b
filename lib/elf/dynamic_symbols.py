"""The symbols that a file imports, and those that it exports, with their versions.

    with open(path, "rb") as file:
        symbols = read_dynamic_symbols(file, read_elf(file, path))
    [one for one in symbols.needed if one.library == "libhip.so.6"]

A symbol with a version says which library it is from (LSB Core, "Symbol Versioning"); any library may supply others.
"""

import sys
from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from struct import Struct
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.model import ElfFile, SectionHeader
from lib.elf.reader import string_table
from lib.elf.source import ElfError, Source
from lib.elf.versions import verdef_entries, verneed_entries

SYM_SIZE: Final = 24
_BATCH: Final = SYM_SIZE * (1 << 17)
_U32_4: Final = Struct("<IIII")
_U32_2: Final = Struct("<II")
_U64: Final = Struct("<Q")
_NAME_VALUE: Final = Struct("<I4xQ")
_VALUE_SIZE: Final = Struct("<8xQQ")
_DYNAMIC: Final = b"_DYNAMIC\0"


def dynamic_symbol_names(source: Source, elf: ElfFile) -> "array[int] | None":
    """Read the st_name of every dynamic symbol; None where their number cannot be known for sure."""
    table = _dynamic_table(source, elf)
    return None if table is None else _integers("I", table)[:: SYM_SIZE // 4]


def _dynamic_table(source: Source, elf: ElfFile) -> bytes | None:
    """Read the dynamic symbol table, empty without DT_SYMTAB; None where its size cannot be known for sure."""
    address = elf.dynamic_value(c.DT_SYMTAB)
    if address is None:
        return b""
    count = dynamic_symbol_count(source, elf, address)
    if count is None:
        return None
    offset = place_of(source, elf, address, count * SYM_SIZE, "DT_SYMTAB")
    return source.read(offset, count * SYM_SIZE, "the dynamic symbol table")


def _symbol_tables(
    source: Source, elf: ElfFile, skip: Collection[int] = ()
) -> "Iterator[tuple[SectionHeader, int, bytes, array[int]]]":
    """Yield all symbol tables, some symbols at a time: the table's section, file offset, bytes, sections of symbols."""
    for number, section in enumerate(elf.section_headers):
        if section.type in (c.SHT_SYMTAB, c.SHT_DYNSYM) and section.entsize == SYM_SIZE and number not in skip:
            end = section.offset + section.size - section.size % SYM_SIZE
            for start in range(section.offset, end, _BATCH):
                data = source.read(start, min(_BATCH, end - start), "a symbol table")
                yield section, start, data, _integers("H", data)[3 :: SYM_SIZE // 2]


def section_symbols(source: Source, elf: ElfFile, index: int) -> Iterator[tuple[int, int, int]]:
    """Find the symbols of the section with this index, in all tables: file offset of the symbol, its value and size."""
    for _, start, data, indices in _symbol_tables(source, elf):
        for at in _positions(indices, index):
            yield start + at * SYM_SIZE, *_VALUE_SIZE.unpack_from(data, at * SYM_SIZE)


def moved_symbols(
    source: Source, elf: ElfFile, moved: Mapping[int, int], skip: Collection[int] = ()
) -> Iterator[tuple[int, int]]:
    """Find the st_value fields to change when sections move: file offset of the field, and its new value.

    `moved` has the distance in bytes for the index of each section that moves; the symbol tables in `skip` stay.
    """
    for section, start, data, indices in _symbol_tables(source, elf, skip) if moved else ():
        for index, distance in moved.items():
            for at in _positions(indices, index):
                (value,) = _U64.unpack_from(data, at * SYM_SIZE + 8)
                if data[at * SYM_SIZE + 4] & 0xF != c.STT_TLS:
                    yield start + at * SYM_SIZE + 8, (value + distance) % (1 << 64)
        for at in _positions(indices, c.SHN_ABS):
            name, value = _NAME_VALUE.unpack_from(data, at * SYM_SIZE)
            if (way := _absolute_distance(source, elf, section.link, moved, name, value)) is not None:
                yield start + at * SYM_SIZE + 8, (value + way) % (1 << 64)


def _absolute_distance(
    source: Source, elf: ElfFile, link: int, moved: Mapping[int, int], name: int, value: int
) -> int | None:
    """Return how many bytes an absolute symbol moves; None if it stays.

    GNU ld makes `_DYNAMIC` absolute on aarch64. It moves with the dynamic section; no other absolute symbol moves.
    """
    headers = elf.section_headers
    distances = (
        distance for at, distance in moved.items() if headers[at].type == c.SHT_DYNAMIC and headers[at].addr == value
    )
    distance = next(distances, None)
    if distance is None or link >= len(headers) or name + len(_DYNAMIC) > headers[link].size:
        return None
    return distance if source.read(headers[link].offset + name, len(_DYNAMIC), "a symbol's name") == _DYNAMIC else None


def _positions(values: "array[int]", wanted: int) -> Iterator[int]:
    at = -1
    try:
        while True:
            at = values.index(wanted, at + 1)
            yield at
    except ValueError:
        return


def _integers(typecode: str, data: bytes) -> "array[int]":
    values = array(typecode, data[: len(data) - len(data) % array(typecode).itemsize])
    if sys.byteorder == "big":
        values.byteswap()
    return values


def dynamic_symbol_count(source: Source, elf: ElfFile, address: int) -> int | None:
    """Count the dynamic symbols, from what sections and hash tables say: the gABI gives DT_SYMTAB no size."""
    counts = [
        section.size // SYM_SIZE
        for section in elf.section_headers
        if section.type == c.SHT_DYNSYM and section.addr == address
    ]
    hash_address = elf.dynamic_value(c.DT_HASH)
    if hash_address is not None and (at := elf.offset_of(hash_address, 8)) is not None:
        counts.append(source.unpack(_U32_2, at, "the symbol hash table")[1])
    gnu_address = elf.dynamic_value(c.DT_GNU_HASH)
    if not counts and gnu_address is not None and (at := elf.offset_of(gnu_address, 16)) is not None:
        count = _gnu_hash_count(source, at)
        counts += [] if count is None else [count]
    return max(counts, default=None)


def _gnu_hash_count(source: Source, at: int) -> int | None:
    """Count the symbols that a GNU hash table at this file offset implies; None when it has none of its own."""
    buckets, first, bloom_words, _ = source.unpack(_U32_4, at, "the GNU hash table")
    at += _U32_4.size + 8 * bloom_words
    last = max(_integers("I", source.read(at, 4 * buckets, "the GNU hash table")), default=0)
    if last < first or not last:
        return None
    at += 4 * buckets + 4 * (last - first)
    while True:
        chain = _integers("I", source.read(at, min(4096, source.size - at) // 4 * 4, "a chain of the GNU hash table"))
        ends = (index for index, value in enumerate(chain) if value & 1)
        if (end := next(ends, None)) is not None:
            return last + end + 1
        if not chain:
            raise source.error(at, "a chain of the GNU hash table does not end inside the file")
        last += len(chain)
        at += 4 * len(chain)


SYM: Final = Struct("<IBBHQQ")
HALF: Final = Struct("<H")
STB_LOCAL: Final = 0
_STB_WEAK: Final = 2
#: A version's number, without the bit that hides a symbol from those who link without a version.
VERSION: Final = 0x7FFF
#: Numbers below this stand for no version: local, and global.
FIRST_VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class NeededSymbol:
    """An undefined symbol; `version` and `library` are None where it has no version."""

    name: str
    version: str | None = None
    library: str | None = None
    is_weak: bool = False
    """Whether the file loads without it."""


@dataclass(frozen=True)
class DynamicSymbols:
    """The dynamic symbols of a file."""

    needed: tuple[NeededSymbol, ...] = ()
    defined: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By name the versions that it is defined in; `""` stands for none."""

    def defines(self, name: str, version: str | None = None) -> bool:
        """Whether a symbol is defined, in that version if one is named."""
        return name in self.defined and (version is None or version in self.defined[name])


def may_open_libraries(file: BinaryIO, elf: ElfFile) -> bool:
    """Whether the file imports dlopen(3) or dlmopen(3), or its symbols cannot be counted.

    A library that defines dlopen itself, as sanitizers do, opens what its callers name: that does not count.
    """
    source = Source(file, elf.path)
    start, size = string_table(elf)
    strings = source.read(start, size, "the dynamic string table")
    openers = {at for name in (b"dlopen\0", b"dlmopen\0") if (at := strings.find(name)) >= 0}
    table = _dynamic_table(source, elf) if openers else b""
    return table is None or any(not section and name in openers for name, _, _, section, _, _ in SYM.iter_unpack(table))


def read_dynamic_symbols(file: BinaryIO, elf: ElfFile) -> DynamicSymbols:
    """Read the symbols of the file that `elf` was read from. Raises ElfError for tables that are damaged."""
    source = Source(file, elf.path)
    data = _dynamic_table(source, elf)
    if data is None:
        raise ElfError(elf.path, elf.dynamic[0].position, "neither a section nor a hash table counts its symbols")
    if not data:
        return DynamicSymbols()
    table = list(SYM.iter_unpack(data))
    start, size = string_table(elf)
    strings = source.read(start, size, "the dynamic string table")
    versions = [number & VERSION for number in version_numbers(source, elf, len(table))]
    required, offered = _required(source, elf, strings), offered_versions(source, elf, strings)
    needed: list[NeededSymbol] = []
    defined: dict[str, set[str]] = {}
    for (name, info, _, section, _, _), number in zip(table[1:], versions[1:], strict=True):
        if info >> 4 == STB_LOCAL or not name:
            continue
        text = name_at(source, strings, name)
        if section:
            defined.setdefault(text, set()).add(offered.get(number, ""))
            continue
        version, library, may_lack = required.get(number, (None, None, False))
        needed.append(NeededSymbol(text, version, library, may_lack or info >> 4 == _STB_WEAK))
    return DynamicSymbols(tuple(needed), {name: frozenset(found) for name, found in defined.items()})


def place_of(source: Source, elf: ElfFile, address: int, size: int, what: str) -> int:
    """Return the file offset of a table at an address. Raises ElfError if no segment has it."""
    offset = elf.offset_of(address, size)
    if offset is None:
        raise source.error(elf.dynamic[0].position, f"{what} {address:#x} with {size} bytes is in no PT_LOAD segment")
    return offset


def name_at(source: Source, strings: bytes, at: int) -> str:
    """Return a name of the dynamic string table. Raises ElfError if it does not end there."""
    end = strings.find(b"\0", at)
    if end < 0:
        raise source.error(0, f"a name at {at} does not end inside the dynamic string table of {len(strings)} bytes")
    return strings[at:end].decode("utf-8", "surrogateescape")


def version_numbers(source: Source, elf: ElfFile, count: int) -> list[int]:
    """Return the number of each symbol's version (DT_VERSYM), with the bit that hides it; 1 where there are none."""
    address = elf.dynamic_value(c.DT_VERSYM)
    if address is None:
        return [1] * count
    offset = place_of(source, elf, address, count * HALF.size, "DT_VERSYM")
    numbers = source.unpack_all(HALF, offset, count * HALF.size, "the table of symbol versions")
    return [number for (number,) in numbers]


def _required(source: Source, elf: ElfFile, strings: bytes) -> dict[int, tuple[str, str, bool]]:
    """Return version, library, and whether the library may lack the version, by the version's number."""
    found: dict[int, tuple[str, str, bool]] = {}
    for _, file, versions in verneed_entries(source, elf):
        library = name_at(source, strings, file)
        for name, number, flags in versions:
            found[number & VERSION] = (name_at(source, strings, name), library, bool(flags & c.VER_FLG_WEAK))
    return found


def offered_versions(source: Source, elf: ElfFile, strings: bytes) -> dict[int, str]:
    """Return the versions that the file defines, by number, without the version of the file itself."""
    own = [versions[0] for _, _, versions in verdef_entries(source, elf) if versions]
    numbers = ((one.number & VERSION, one.name) for one in own)
    return {number: name_at(source, strings, name) for number, name in numbers if number >= FIRST_VERSION}
