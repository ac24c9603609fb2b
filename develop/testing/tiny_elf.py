"""Makes ELF files without a dynamic section, byte by byte. `develop.testing.elf_sample` makes those with one.

    template = program(".launcher.target", bytes(64))

Each holds an ELF header, one section of the caller's and the table of section names (System V gABI, "Object Files").
None holds code.
"""

from struct import pack

from lib.elf import constants as c

EHDR_SIZE, PHDR_SIZE, SHDR_SIZE = 64, 56, 64
#: Where a program's segment is linked to.
ADDRESS = 0x10000


def _section_headers(section: str, kind: int, offset: int, size: int, names: bytes, names_offset: int) -> bytes:
    """Return the table of three: the null section, the caller's, and the names."""
    at = names.index(section.encode() + b"\0")
    own = pack("<IIQQQQIIQQ", at, kind, c.SHF_ALLOC, ADDRESS + offset, offset, size, 0, 0, 1, 0)
    table = pack("<IIQQQQIIQQ", 1, c.SHT_STRTAB, 0, 0, names_offset, len(names), 0, 0, 1, 0)
    return bytes(SHDR_SIZE) + own + table


def _build(e_type: int, machine: int, section: str, kind: int, content: bytes, segments: int) -> bytes:
    offset = EHDR_SIZE + segments * PHDR_SIZE
    names = b"\0.shstrtab\0" + section.encode() + b"\0"
    stored = b"" if kind == c.SHT_NOBITS else content
    names_offset = offset + len(stored)
    shoff = names_offset + len(names)
    ident = b"\x7fELF\2\1\1".ljust(16, b"\0")
    phoff = EHDR_SIZE if segments else 0
    sizes = (EHDR_SIZE, PHDR_SIZE, segments, SHDR_SIZE, 3, 2)
    header = pack("<16sHHIQQQIHHHHHH", ident, e_type, machine, 1, ADDRESS, phoff, shoff, 0, *sizes)
    load = pack("<IIQQQQQQ", c.PT_LOAD, c.PF_R, 0, ADDRESS, ADDRESS, names_offset, names_offset, 0x1000)
    sections = _section_headers(section, kind, offset, len(content), names, names_offset)
    return header + load * segments + stored + names + sections


def program(section: str, content: bytes, kind: int = c.SHT_PROGBITS, machine: int = c.EM_X86_64) -> bytes:
    """Return a static program (ET_EXEC, no dynamic section) with a section of that name, content and type."""
    return _build(c.ET_EXEC, machine, section, kind, content, segments=1)


def relocatable(machine: int = c.EM_X86_64) -> bytes:
    """Return an object file (ET_REL)."""
    return _build(c.ET_REL, machine, ".text", c.SHT_PROGBITS, b"\xc3", segments=0)
