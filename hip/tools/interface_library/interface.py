"""What a linker reads of a shared library.

    with open(path, "rb") as file:
        interface = read_interface(file, path)

(System V gABI, "Symbol Table"; LSB Core, "Symbol Versioning".)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.dynamic_symbols import (
    FIRST_VERSION,
    STB_LOCAL,
    SYM,
    name_at,
    offered_versions,
    place_of,
    version_numbers,
)
from lib.elf.model import ElfFile
from lib.elf.reader import read_elf, string_table
from lib.elf.source import ElfError, Source
from lib.elf.symbols import SYM_SIZE, dynamic_symbol_count

_STT_FUNC: Final = 2
_STT_GNU_IFUNC: Final = 10
#: Visibilities with which nobody else can refer to a symbol: STV_INTERNAL and STV_HIDDEN.
_PRIVATE: Final = (1, 2)


@dataclass(frozen=True, order=True)
class Symbol:
    """A symbol that the library defines."""

    name: str
    version: int
    """Its number (DT_VERSYM), with the bit that hides it; 1 if it has none."""
    info: int
    """Binding and type (st_info)."""
    other: int
    """Visibility (st_other)."""
    place: str
    """`code`, `data`, `tls` or `absolute`."""
    size: int
    """In bytes; 0 for code, because no linker looks at that."""
    address: int
    """In the library; 0 for code."""


@dataclass(frozen=True)
class Interface:
    """What a linker reads of a shared library."""

    machine: int
    soname: str
    symbols: tuple[Symbol, ...]
    """Sorted."""
    versions: tuple[str, ...]
    """Those that it defines, by their numbers, which begin with FIRST_VERSION; empty for a number that is not used."""


def read_interface(file: BinaryIO, path: str) -> Interface:
    """Read a shared library, called by its file name if it has no SONAME. Raises ElfError if it cannot."""
    elf = read_elf(file, path)
    if elf.type != c.ET_DYN or elf.elf_class != 64 or not elf.dynamic:
        raise ElfError(path, 0, "no shared library of a 64-bit machine")
    source = Source(file, path)
    start, size = string_table(elf)
    strings = source.read(start, size, "the dynamic string table")
    versions = offered_versions(source, elf, strings)
    numbers = range(FIRST_VERSION, max(versions, default=1) + 1)
    return Interface(
        elf.machine,
        elf.soname or path.rpartition("/")[2],
        tuple(sorted(_symbols(source, elf, strings))),
        tuple(versions.get(number, "") for number in numbers),
    )


def _symbols(source: Source, elf: ElfFile, strings: bytes) -> Iterator[Symbol]:
    """Yield what others can refer to."""
    address = elf.dynamic_value(c.DT_SYMTAB)
    count = dynamic_symbol_count(source, elf, address) if address is not None else 0
    if address is None or not count:
        return
    offset = place_of(source, elf, address, count * SYM_SIZE, "DT_SYMTAB")
    table = source.unpack_all(SYM, offset, count * SYM_SIZE, "the dynamic symbol table")
    numbers = version_numbers(source, elf, count)
    for (name, info, other, section, value, size), number in zip(table[1:], numbers[1:], strict=True):
        if section and name and info >> 4 != STB_LOCAL and other & 3 not in _PRIVATE:
            place = _place(elf, info & 0xF, section, value)
            text = name_at(source, strings, name)
            is_code = place == "code"
            yield Symbol(text, number, info, other, place, 0 if is_code else size, 0 if is_code else value)


def _place(elf: ElfFile, kind: int, section: int, value: int) -> str:
    if section == c.SHN_ABS:
        return "absolute"
    if kind == c.STT_TLS:
        return "tls"
    is_code = any(one.flags & c.PF_X and one.vaddr <= value < one.memory_end for one in elf.loads)
    return "code" if is_code or kind in (_STT_FUNC, _STT_GNU_IFUNC) else "data"
