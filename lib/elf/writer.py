"""Writes small ELF files from nothing: 64-bit, little-endian, of the type ET_DYN.

    file = ElfWriter(machine, segments=2)
    strings = StringTableWriter()
    file.place(Section(".dynstr", c.SHT_STRTAB, strings.content, c.SHF_ALLOC), base=0)
    content = file.content(program_headers)

Sections are placed one behind the other. The table of their names, the section headers and the ELF header come with
`content`. (System V gABI, "Object Files".)
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from struct import Struct
from typing import Final

from lib.elf import constants as c
from lib.elf.dynamic_edit import encode
from lib.elf.platforms import BY_MACHINE
from lib.elf.reader import PHDR64, SHDR64

#: The ELF header with e_ident, which readers look at first.
EHDR64: Final = Struct("<16sHHIQQQIHHHHHH")
#: Alignment of the section header table, in bytes.
_ALIGN: Final = 8


@dataclass(frozen=True)
class Section:
    """A section: its content, and the fields of its header that are not zero."""

    name: str
    kind: int
    content: bytes = b""
    flags: int = 0
    link: int = 0
    info: int = 0
    align: int = 1
    entry_size: int = 0
    address: int = 0
    #: Of a section without bytes (SHT_NOBITS): its size in memory, in bytes.
    size: int = 0
    #: Where it lies in the file, once it is placed.
    offset: int = 0

    @property
    def end(self) -> int:
        """File offset of the first byte after the section."""
        return self.offset + len(self.content)

    def header(self, name: int) -> bytes:
        """Return the section header; `name` is the offset of the name in the table of section names."""
        place = (self.address, self.offset, self.size or len(self.content))
        return SHDR64.pack(name, self.kind, self.flags, *place, self.link, self.info, self.align, self.entry_size)


class StringTableWriter:
    """A string table to be; equal texts are in it once."""

    def __init__(self) -> None:
        self._content = bytearray(1)
        self._known = {"": 0}

    @property
    def content(self) -> bytes:
        """The table as it is so far."""
        return bytes(self._content)

    def at(self, text: str) -> int:
        """Return the offset of a text, which is added if it is new."""
        if text not in self._known:
            self._known[text] = len(self._content)
            self._content += encode(text)
        return self._known[text]


class ElfWriter:
    """An ELF file to be."""

    def __init__(self, machine: int, *, segments: int = 0, abi: int = 0) -> None:
        """Begin a file for a CPU (e_machine) with room for so many program headers; `abi` is EI_OSABI."""
        self._machine, self._segments, self._abi = machine, segments, abi
        self._sections: list[Section] = []
        self._end = EHDR64.size + segments * PHDR64.size

    def place(self, section: Section, base: int | None = None) -> Section:
        """Place a section behind the others; return it as it was placed.

        Its address is `base` plus its file offset; without `base`, the address that the section says.
        """
        offset = aligned(self._end, section.align)
        address = section.address if base is None else base + offset
        self._sections.append(replace(section, offset=offset, address=address))
        self._end = self._sections[-1].end
        return self._sections[-1]

    def content(self, program_headers: Iterable[bytes] = ()) -> bytes:
        """Return the file; raises ValueError if there are not as many program headers as there is room for."""
        segments = b"".join(program_headers)
        if len(segments) != self._segments * PHDR64.size:
            raise ValueError(f"{len(segments)} bytes of program headers; expected {self._segments * PHDR64.size}")
        names = StringTableWriter()
        at = [names.at(name) for name in (*(one.name for one in self._sections), ".shstrtab")]
        self.place(Section(".shstrtab", c.SHT_STRTAB, names.content))
        headers = [bytes(SHDR64.size), *(one.header(name) for one, name in zip(self._sections, at, strict=True))]
        table = aligned(self._end, _ALIGN)
        content = bytearray(self._elf_header(table, len(headers)) + segments).ljust(table, b"\0")
        for section in self._sections:
            content[section.offset : section.end] = section.content
        return bytes(content) + b"".join(headers)

    def _elf_header(self, table: int, count: int) -> bytes:
        """Return the ELF header; `table` is the file offset of `count` section headers."""
        ident = b"\x7fELF" + bytes((c.ELFCLASS64, c.ELFDATA2LSB, c.EV_CURRENT, self._abi))
        at = EHDR64.size if self._segments else 0
        entry = PHDR64.size if self._segments else 0
        flags = BY_MACHINE[self._machine].elf_flags if self._machine in BY_MACHINE else 0
        return EHDR64.pack(
            ident.ljust(16, b"\0"), c.ET_DYN, self._machine, c.EV_CURRENT, 0, at, table, flags,
            EHDR64.size, entry, self._segments, SHDR64.size, count, count - 1,
        )  # fmt: skip


def aligned(offset: int, align: int) -> int:
    """Return the first multiple of `align` that is not below `offset`, in bytes."""
    return -(-offset // align) * align
