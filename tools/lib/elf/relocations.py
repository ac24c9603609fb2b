"""The relocations of a linked file that put addresses into its memory, some at a time.

A large library has hundreds of thousands, so that they are read in bulk and left as the numbers that they are. Tables:
DT_RELA (gABI, "Relocation"; the types are those of the psABI of the machine) and DT_RELR (gABI, "Relative Relocation
Table").
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final

from tools.lib.elf import constants as c
from tools.lib.elf.model import ElfFile
from tools.lib.elf.source import Source

DT_RELA: Final = 7
DT_RELASZ: Final = 8
DT_RELRSZ: Final = 35
DT_RELR: Final = 36
#: The type that adds the load bias to the addend.
RELATIVE_TYPES: Final = {c.EM_X86_64: 8, c.EM_AARCH64: 1027}
#: The type that adds the value of a symbol to the addend.
SYMBOL_TYPES: Final = {c.EM_X86_64: 1, c.EM_AARCH64: 257}
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
