"""Makes an interface library of a shared library: what a linker reads of it.

A file that is not an ELF file, such as a linker script, is copied.

Programs that are linked with it are linked with the library: SONAME, symbols and versions are the same. Code and data
have addresses in it, and no bytes. Addresses are made up: code has one for all, data begins where any alignment fits.
Two names of the same data keep one address, because a program that copies data into itself has to know that. It does
not list the library's own dependencies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from lib.common.arguments import run_program
from lib.common.program import ToolError
from lib.elf import constants as c
from lib.elf.dynamic_edit import encode
from lib.elf.dynamic_symbols import (
    FIRST_VERSION,
    HALF,
    STB_LOCAL,
    SYM,
    SYM_SIZE,
    VERSION,
    dynamic_symbol_count,
    name_at,
    offered_versions,
    place_of,
    version_numbers,
)
from lib.elf.model import ElfFile
from lib.elf.reader import DYN64, is_elf, read_elf, string_table
from lib.elf.source import ElfError, Source
from lib.elf.versions import version_definitions
from lib.elf.writer import ElfWriter, Section, StringTableWriter

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
    """The parts of a shared library that a linker reads."""

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
            place = _place_of(elf, info & 0xF, section, value)
            text = name_at(source, strings, name)
            is_code = place == "code"
            yield Symbol(text, number, info, other, place, 0 if is_code else size, 0 if is_code else value)


def _place_of(elf: ElfFile, kind: int, section: int, value: int) -> str:
    if section == c.SHN_ABS:
        return "absolute"
    if kind == c.STT_TLS:
        return "tls"
    is_code = any(one.flags & c.PF_X and one.vaddr <= value < one.memory_end for one in elf.loads)
    return "code" if is_code or kind in (_STT_FUNC, _STT_GNU_IFUNC) else "data"


#: Of files that may have symbols with the binding STB_GNU_UNIQUE or of the type STT_GNU_IFUNC.
_ELFOSABI_GNU: Final = 3
_SHF_TLS: Final = 0x400
#: Alignment of data, in bytes: the largest that a copy of it in a program may need.
_ALIGN: Final = 64
#: The sections of code, data and thread-local data, in the order of the file: name, flags.
_PLACES: Final = {
    "code": (".text", c.SHF_ALLOC | c.SHF_EXECINSTR),
    "data": (".data", c.SHF_ALLOC | c.SHF_WRITE),
    "tls": (".tbss", c.SHF_ALLOC | c.SHF_WRITE | _SHF_TLS),
}
#: Numbers of sections: the first of _PLACES, and the symbols' and strings', to which others are linked.
_FIRST_PLACE, _DYNSYM, _DYNSTR = 1, 4, 5
#: Where the first section begins: nothing is at address 0.
_BASE: Final = 0x10000


def _addresses(symbols: Sequence[Symbol], place: str, start: int) -> tuple[dict[int, int], int]:
    """Return the address here for each address in the library, and where the section ends."""
    sizes: dict[int, int] = {}
    for symbol in symbols:
        if symbol.place == place:
            sizes[symbol.address] = max(sizes.get(symbol.address, 1), symbol.size)
    found, at = {}, start
    for address, size in sizes.items():  # in the order of names
        found[address] = at
        at += -(-size // _ALIGN) * _ALIGN
    return found, at


def _places(symbols: Sequence[Symbol]) -> tuple[list[Section], dict[str, dict[int, int]]]:
    """Lay out the sections without bytes; return them, and the addresses of symbols in each place."""
    sections, addresses, at = [], {}, _BASE
    for place, (name, flags) in _PLACES.items():
        found, end = _addresses(symbols, place, at)
        # Addresses of thread-local data begin with the section.
        addresses[place] = {old: new - at if place == "tls" else new for old, new in found.items()}
        sections.append(Section(name, c.SHT_NOBITS, b"", flags, align=_ALIGN, address=at, size=end - at))
        at = end + _ALIGN
    return sections, addresses


def _symbol_table(interface: Interface, addresses: dict[str, dict[int, int]], strings: StringTableWriter) -> bytes:
    numbers = {place: number for number, place in enumerate(_PLACES, _FIRST_PLACE)}
    entries = [bytes(SYM.size)]
    for one in interface.symbols:
        section = numbers.get(one.place, c.SHN_ABS)
        value = addresses[one.place][one.address] if one.place in addresses else 0
        entries.append(SYM.pack(strings.at(one.name), one.info, one.other, section, value, one.size))
    return b"".join(entries)


def _definitions(interface: Interface, strings: StringTableWriter) -> bytes:
    """Return .gnu.version_d: the library's own name first."""
    named = {number: name for number, name in enumerate(interface.versions, FIRST_VERSION) if name}
    names = {1: interface.soname, **named}
    return version_definitions({number: (encode(name)[:-1], strings.at(name)) for number, name in names.items()})


def _tables(interface: Interface, addresses: dict[str, dict[int, int]]) -> list[Section]:
    """Return the sections with bytes, in their order."""
    strings = StringTableWriter()
    table = _symbol_table(interface, addresses, strings)
    dynamic = b"".join(DYN64.pack(*one) for one in ((c.DT_SONAME, strings.at(interface.soname)), (c.DT_NULL, 0)))
    versioned: list[Section] = []
    if interface.versions:
        numbers = b"".join(HALF.pack(one) for one in (0, *(symbol.version for symbol in interface.symbols)))
        definitions = _definitions(interface, strings)
        count = 1 + sum(map(bool, interface.versions))
        versioned = [
            Section(".gnu.version", c.SHT_GNU_VERSYM, numbers, c.SHF_ALLOC, _DYNSYM, 0, 2, HALF.size),
            Section(".gnu.version_d", c.SHT_GNU_VERDEF, definitions, c.SHF_ALLOC, _DYNSTR, count, 4),
        ]
    return [
        Section(".dynsym", c.SHT_DYNSYM, table, c.SHF_ALLOC, _DYNSTR, 1, 8, SYM.size),
        Section(".dynstr", c.SHT_STRTAB, strings.content, c.SHF_ALLOC),
        *versioned,
        Section(".dynamic", c.SHT_DYNAMIC, dynamic, c.SHF_ALLOC | c.SHF_WRITE, _DYNSTR, 0, 8, DYN64.size),
    ]


def interface_library(interface: Interface) -> bytes:
    """Return the interface library. Raises ValueError for a symbol of a version that the library does not define."""
    unknown = [one for one in interface.symbols if one.version & VERSION >= FIRST_VERSION + len(interface.versions)]
    if unknown:
        raise ValueError(f"{unknown[0].name} has version number {unknown[0].version}, which is not defined")
    places, addresses = _places(interface.symbols)
    file = ElfWriter(interface.machine, abi=_ELFOSABI_GNU)
    for section in (*places, *_tables(interface, addresses)):
        file.place(section)
    return file.content()


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    library: Path  #: The shared library.
    output: Path  #: The interface library to write.


def convert(args: Arguments) -> None:
    """Write the interface library. Raises ToolError if the library is damaged."""
    try:
        with args.library.open("rb") as file:
            head = file.read(16)
            content = (
                interface_library(read_interface(file, str(args.library)))
                if is_elf(head)
                else args.library.read_bytes()
            )
    except (ElfError, ValueError) as error:
        raise ToolError(f"{args.library}: expected a shared library ({error}). Build or fetch it again") from None
    args.output.write_bytes(content)


def main(argv: list[str]) -> int:
    """Make the interface library."""
    return run_program(Arguments, argv, convert)
