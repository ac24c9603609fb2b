"""ELF files that are written from nothing, read by pyelftools."""

import io

import pytest
from elftools.elf.elffile import ELFFile

from lib.elf import constants as c
from lib.elf.reader import PHDR64
from lib.elf.writer import ElfWriter, Section, StringTableWriter


def test_sections_lie_where_their_headers_say() -> None:
    file = ElfWriter(c.EM_AARCH64, segments=1, abi=3)
    file.place(Section(".odd", c.SHT_PROGBITS, b"odd"))
    data = file.place(Section(".data", c.SHT_PROGBITS, b"data", c.SHF_ALLOC, align=64), base=0x10000)
    file.place(Section(".bss", c.SHT_NOBITS, size=100, address=0x20000))
    load = PHDR64.pack(c.PT_LOAD, c.PF_R, data.offset, data.address, data.address, 4, 4, 64)
    elf = ELFFile(io.BytesIO(file.content([load])))
    assert (elf["e_machine"], elf["e_ident"]["EI_OSABI"]) == ("EM_AARCH64", "ELFOSABI_LINUX")
    sections = {section.name: section for section in elf.iter_sections()}
    assert list(sections) == ["", ".odd", ".data", ".bss", ".shstrtab"]
    assert sections[".odd"].data() == b"odd"
    found = sections[".data"]
    assert (found.data(), found["sh_offset"] % 64, found["sh_addr"]) == (b"data", 0, 0x10000 + found["sh_offset"])
    assert sections[".bss"]["sh_size"] == 100
    assert elf.get_segment(0).data() == b"data"


def test_program_headers_have_the_room_that_was_left() -> None:
    with pytest.raises(ValueError, match="0 bytes of program headers; expected 56"):
        ElfWriter(c.EM_X86_64, segments=1).content()


def test_a_string_is_in_its_table_once() -> None:
    table = StringTableWriter()
    assert [table.at(text) for text in ("", "one", "two", "one", "\udcff")] == [0, 1, 5, 1, 9]
    assert table.content == b"\0one\0two\0\xff\0"
