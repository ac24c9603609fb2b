"""Finds what refers to a range of addresses in a linked file, so that it can be updated when the range moves.

These are relocations and, by `dynamic_symbols.section_symbols`, symbols. What code computes from its own place
(relative to the program counter) is not known here: the caller has to know that there is none.
"""

import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Final

from lib.elf import constants as c
from lib.elf.dynamic_symbols import SYM_SIZE
from lib.elf.model import ElfFile
from lib.elf.platforms import BY_MACHINE
from lib.elf.source import Source

DT_RELA: Final = 7
DT_RELASZ: Final = 8
DT_RELRSZ: Final = 35
DT_RELR: Final = 36
#: An Elf64_Rela: r_offset, r_info, r_addend.
RELA: Final = Struct("<QQq")
WORD: Final = Struct("<Q")
#: Bytes of relocations that are read at a time: a whole number of them.
_BATCH: Final = RELA.size << 14
#: One bit of a RELR word says that the word is a bitmap, the others are for as many places.
_RELR_PLACES: Final = 63


def rela_batches(source: Source, elf: ElfFile) -> Iterator[tuple[int, bytes]]:
    """Yield the relocations of DT_RELA, some at a time: file offset, and whole Elf64_Rela.

    Raises ElfError when the file does not hold the table.
    """
    return _table(source, elf, DT_RELA, DT_RELASZ, RELA.size)


def relr_runs(source: Source, elf: ElfFile) -> Iterator[tuple[int, int]]:
    """Yield the places that DT_RELR relocates: an address, and a bit for each of the 8-byte words from there on.

    Raises ElfError when the file does not hold the table.
    """
    base = 0
    for _, batch in _table(source, elf, DT_RELR, DT_RELRSZ, WORD.size):
        for (word,) in WORD.iter_unpack(batch):
            if word & 1:
                yield base, word >> 1
                base += WORD.size * _RELR_PLACES
            else:
                yield word, 1
                base = word + WORD.size


def _table(source: Source, elf: ElfFile, tag: int, size_tag: int, entry: int) -> Iterator[tuple[int, bytes]]:
    """Yield a table of relocations that two dynamic entries name, some at a time, each with its file offset."""
    address, size = elf.dynamic_value(tag), elf.dynamic_value(size_tag)
    if address is None or not size:
        return
    position = elf.dynamic[0].position
    start = elf.offset_of(address, size)
    if start is None or size % entry:
        reason = f"{size} bytes of relocations at {address:#x}; expected entries of {entry} bytes in a PT_LOAD segment"
        raise source.error(position, reason)
    for at in range(start, start + size, _BATCH):
        yield at, source.read(at, min(_BATCH, start + size - at), "relocations")


#: Where in an Elf64_Rela the addend is, in bytes.
_ADDEND: Final = 16
_WINDOW: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Reference:
    """A word of eight bytes at file offset `position` that leads to the virtual address `address`.

    The word holds the address, less the value `base` of a symbol (0: without one); `base_moves` says that the symbol is
    one of the section that moves.
    """

    position: int
    address: int
    base: int = 0
    base_moves: bool = False


def references(source: Source, elf: ElfFile, index: int) -> Iterator[Reference]:
    """Find the words that lead into the section with this index, and those that count from one of its symbols.

    Raises ElfError for what is damaged, and for what leads there in a way that is not known.
    """
    section = elf.section_headers[index]
    inside = range(section.addr, section.addr + section.size)
    yield from _rela_references(source, elf, index, inside)
    window, window_at = b"", 0
    for start, mask in relr_runs(source, elf):
        if not mask:
            continue
        size = mask.bit_length() * WORD.size
        at = elf.offset_of(start, size)
        if at is None:
            raise source.error(elf.dynamic[0].position, f"DT_RELR relocates {start:#x}, which is not in the file")
        if not window_at <= at <= window_at + len(window) - size:
            window, window_at = source.read(at, min(_WINDOW, source.size - at), "relocated words"), at
        for number, (value,) in enumerate(WORD.iter_unpack(window[at - window_at : at - window_at + size])):
            if mask >> number & 1 and value in inside:
                yield Reference(at + number * WORD.size, value)


def _rela_references(source: Source, elf: ElfFile, index: int, inside: range) -> Iterator[Reference]:
    cpu = BY_MACHINE.get(elf.machine)
    symbols = _Symbols(source, elf)
    for start, batch in rela_batches(source, elf):
        for number, (place, info, addend) in enumerate(RELA.iter_unpack(batch)):
            kind, symbol = info & 0xFFFFFFFF, info >> 32
            position = start + number * RELA.size
            if cpu and kind == cpu.relative:
                if addend in inside:
                    yield Reference(position + _ADDEND, addend)
                    yield from _word_in_place(source, elf, place, addend)
            elif cpu and kind == cpu.symbolic:
                value, section = symbols.find(symbol, position)
                if section == index or (section and value + addend in inside):
                    yield Reference(position + _ADDEND, value + addend, value, section == index)
            elif cpu and kind == cpu.irelative:
                if addend in inside:
                    raise source.error(position, f"a relocation of type {kind} leads into data, to {addend:#x}")
            elif addend and symbol and symbols.find(symbol, position)[1] == index:
                raise source.error(
                    position, f"a relocation of type {kind} counts from a symbol of a section that moves"
                )


def _word_in_place(source: Source, elf: ElfFile, place: int, address: int) -> Iterator[Reference]:
    """Find the address where it will be, too: some linkers write it there (-z apply-dynamic-relocs)."""
    at = elf.offset_of(place, WORD.size)
    if at is not None and source.unpack(WORD, at, "a relocated word") == (address,):
        yield Reference(at, address)


class _Symbols:
    """The dynamic symbols of a file, read when one of them is asked for."""

    def __init__(self, source: Source, elf: ElfFile) -> None:
        self._source = source
        self._elf = elf
        self._words: array[int] | None = None

    def find(self, number: int, position: int) -> tuple[int, int]:
        """Return value and section of a symbol, that the relocation at file offset `position` names."""
        if self._words is None:
            self._words = self._read(position)
        if (number + 1) * 3 > len(self._words):
            raise self._source.error(
                position, f"a relocation by symbol {number}, of {len(self._words) // 3} in the section for them"
            )
        return self._words[3 * number + 1], self._words[3 * number] >> 48

    def _read(self, position: int) -> "array[int]":
        table = dynamic_symbol_section(self._elf)
        if table is None:
            raise self._source.error(position, "a relocation by symbol, but no section tells where the symbols are")
        offset, size = table
        words = array("Q", self._source.read(offset, size - size % SYM_SIZE, "the dynamic symbol table"))
        if sys.byteorder == "big":
            words.byteswap()
        return words


def dynamic_symbol_section(elf: ElfFile) -> tuple[int, int] | None:
    """File offset and size in bytes of the section that DT_SYMTAB names; None if there is none."""
    address = elf.dynamic_value(c.DT_SYMTAB)
    for section in elf.section_headers:
        if section.type == c.SHT_DYNSYM and section.addr == address and section.entsize == SYM_SIZE:
            return (section.offset, section.size) if elf.offset_of(address) == section.offset else None
    return None
