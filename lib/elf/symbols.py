"""The symbol tables of a file, read in bulk as integers: a library has tens of thousands of symbols.

An Elf64_Sym has 24 bytes: st_name (4), st_info (1), st_other (1), st_shndx (2), st_value (8), st_size (8).
"""

import sys
from array import array
from collections.abc import Collection, Iterator, Mapping
from struct import Struct
from typing import Final

from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.source import Source

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
    address = elf.dynamic_value(c.DT_SYMTAB)
    if address is None:
        return array("I")
    count = dynamic_symbol_count(source, elf, address)
    if count is None:
        return None
    offset = elf.offset_of(address, count * SYM_SIZE)
    if offset is None:
        raise source.error(
            elf.dynamic[0].position, f"DT_SYMTAB {address:#x} with {count} symbols is in no PT_LOAD segment"
        )
    return _integers("I", source.read(offset, count * SYM_SIZE, "the dynamic symbol table"))[:: SYM_SIZE // 4]


def section_symbols(source: Source, elf: ElfFile, index: int) -> Iterator[tuple[int, int, int]]:
    """Find the symbols of the section with this index, in all tables: file offset of the symbol, its value and size."""
    for section in elf.section_headers:
        if section.type not in (c.SHT_SYMTAB, c.SHT_DYNSYM) or section.entsize != SYM_SIZE:
            continue
        end = section.offset + section.size - section.size % SYM_SIZE
        for start in range(section.offset, end, _BATCH):
            data = source.read(start, min(_BATCH, end - start), "a symbol table")
            for at in _positions(_integers("H", data)[3 :: SYM_SIZE // 2], index):
                yield start + at * SYM_SIZE, *_VALUE_SIZE.unpack_from(data, at * SYM_SIZE)


def moved_symbols(
    source: Source, elf: ElfFile, moved: Mapping[int, int], skip: Collection[int] = ()
) -> Iterator[tuple[int, int]]:
    """Find the st_value fields to change when sections move: file offset of the field, and its new value.

    `moved` has the distance in bytes for the index of each section that moves; the symbol tables in `skip` stay.
    """
    for number, section in enumerate(elf.section_headers):
        is_table = section.type in (c.SHT_SYMTAB, c.SHT_DYNSYM) and section.entsize == SYM_SIZE
        if not is_table or number in skip or not moved:
            continue
        end = section.offset + section.size - section.size % SYM_SIZE
        for start in range(section.offset, end, _BATCH):
            data = source.read(start, min(_BATCH, end - start), "a symbol table")
            indices = _integers("H", data)[3 :: SYM_SIZE // 2]
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
