"""Writes interface libraries: ELF files with what a linker reads of a shared library, and nothing else.

    content = interface_library(read_interface(file, path))

Programs that are linked with such a file are linked with the library: SONAME, symbols and versions are the same. Code
and data have addresses in it, and no bytes. Addresses are made up: code has one for all, data begins where any
alignment fits. Two names of the same data keep one address, because a program that copies data into itself has to know
that. What a library needs of others is not in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Final

from tools.actions.interface_library.interface import Interface, Symbol
from tools.lib.elf import constants as c
from tools.lib.elf.dynamic_symbols import FIRST_VERSION, HALF, SYM, VERSION
from tools.lib.elf.versions import version_definitions

_EHDR: Final = Struct("<16sHHIQQQIHHHHHH")
_SHDR: Final = Struct("<IIQQQQIIQQ")
_DYN: Final = Struct("<qQ")
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


def encoded(name: str) -> bytes:
    """Return the bytes of a name, as they are in the file."""
    return name.encode("utf-8", "surrogateescape")


class _Strings:
    """A string table to be."""

    def __init__(self) -> None:
        self.content = bytearray(1)
        self._known = {"": 0}

    def at(self, text: str) -> int:
        """Return the offset of a text, which is added if it is new."""
        if text not in self._known:
            self._known[text] = len(self.content)
            self.content += encoded(text) + b"\0"
        return self._known[text]


@dataclass(frozen=True)
class _Section:
    """A section, and the fields of its header that are not zero."""

    name: str
    kind: int
    flags: int
    content: bytes
    link: int = 0
    info: int = 0
    align: int = 1
    entry_size: int = 0
    #: Of a section without bytes: its address, and its size in bytes.
    address: int = 0
    size: int = 0


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


def _places(symbols: Sequence[Symbol]) -> tuple[list[_Section], dict[str, dict[int, int]]]:
    """Lay out the sections without bytes; return them, and the addresses of symbols in each place."""
    sections, addresses, at = [], {}, _BASE
    for place, (name, flags) in _PLACES.items():
        found, end = _addresses(symbols, place, at)
        # Addresses of thread-local data begin with the section.
        addresses[place] = {old: new - at if place == "tls" else new for old, new in found.items()}
        sections.append(_Section(name, c.SHT_NOBITS, flags, b"", align=_ALIGN, address=at, size=end - at))
        at = end + _ALIGN
    return sections, addresses


def _symbol_table(interface: Interface, addresses: dict[str, dict[int, int]], strings: _Strings) -> bytes:
    numbers = {place: number for number, place in enumerate(_PLACES, _FIRST_PLACE)}
    entries = [bytes(SYM.size)]
    for one in interface.symbols:
        section = numbers.get(one.place, c.SHN_ABS)
        value = addresses[one.place][one.address] if one.place in addresses else 0
        entries.append(SYM.pack(strings.at(one.name), one.info, one.other, section, value, one.size))
    return b"".join(entries)


def _definitions(interface: Interface, strings: _Strings) -> bytes:
    """Return .gnu.version_d: the library's own name first."""
    named = {number: name for number, name in enumerate(interface.versions, FIRST_VERSION) if name}
    names = {1: interface.soname, **named}
    return version_definitions({number: (encoded(name), strings.at(name)) for number, name in names.items()})


def _tables(interface: Interface, addresses: dict[str, dict[int, int]]) -> list[_Section]:
    """Return the sections with bytes, in their order."""
    strings = _Strings()
    table = _symbol_table(interface, addresses, strings)
    dynamic = b"".join(_DYN.pack(*one) for one in ((c.DT_SONAME, strings.at(interface.soname)), (c.DT_NULL, 0)))
    versioned: list[_Section] = []
    if interface.versions:
        numbers = b"".join(HALF.pack(one) for one in (0, *(symbol.version for symbol in interface.symbols)))
        definitions = _definitions(interface, strings)
        count = 1 + sum(map(bool, interface.versions))
        versioned = [
            _Section(".gnu.version", c.SHT_GNU_VERSYM, c.SHF_ALLOC, numbers, _DYNSYM, 0, 2, HALF.size),
            _Section(".gnu.version_d", c.SHT_GNU_VERDEF, c.SHF_ALLOC, definitions, _DYNSTR, count, 4),
        ]
    return [
        _Section(".dynsym", c.SHT_DYNSYM, c.SHF_ALLOC, table, _DYNSTR, 1, 8, SYM.size),
        _Section(".dynstr", c.SHT_STRTAB, c.SHF_ALLOC, bytes(strings.content)),
        *versioned,
        _Section(".dynamic", c.SHT_DYNAMIC, c.SHF_ALLOC | c.SHF_WRITE, dynamic, _DYNSTR, 0, 8, _DYN.size),
    ]


def interface_library(interface: Interface) -> bytes:
    """Return the interface library. Raises ValueError for a symbol of a version that the library does not define."""
    unknown = [one for one in interface.symbols if one.version & VERSION >= FIRST_VERSION + len(interface.versions)]
    if unknown:
        raise ValueError(f"{unknown[0].name} has version number {unknown[0].version}, which is not defined")
    places, addresses = _places(interface.symbols)
    sections = [*places, *_tables(interface, addresses)]
    names = _Strings()
    for section in sections:
        names.at(section.name)
    own_name = names.at(".shstrtab")
    sections.append(_Section(".shstrtab", c.SHT_STRTAB, 0, bytes(names.content)))
    content = bytearray(_EHDR.size)
    headers = [bytes(_SHDR.size)]
    for one in sections:
        content += bytes(-len(content) % 8)
        name = own_name if one.name == ".shstrtab" else names.at(one.name)
        where = (one.address, len(content), one.size or len(one.content))
        headers.append(_SHDR.pack(name, one.kind, one.flags, *where, one.link, one.info, one.align, one.entry_size))
        content += one.content
    content += bytes(-len(content) % 8)
    ident = b"\x7fELF" + bytes((c.ELFCLASS64, c.ELFDATA2LSB, c.EV_CURRENT, _ELFOSABI_GNU))
    counts = (_EHDR.size, 0, 0, _SHDR.size, len(headers), len(headers) - 1)
    content[: _EHDR.size] = _EHDR.pack(
        ident.ljust(16, b"\0"), c.ET_DYN, interface.machine, c.EV_CURRENT, 0, 0, len(content), 0, *counts
    )
    return bytes(content) + b"".join(headers)
