"""Makes forwarders: libraries of about 1 KB that bring a versioned library under its unversioned name.

Programs open `libfoo.so` at run time, but a wheel, which holds no links, has the library
once, as `libfoo.so.1`. A copy would be a second instance with state of its own. The
forwarder named `libfoo.so` defines nothing and needs `libfoo.so.1` of its own directory,
so `dlopen` and `dlsym` through it reach the one real library (System V gABI, "Dynamic
Linking"). pack calls `forwarder` for entries that the plan treats so.

A forwarder named `libfoo.so.1` leads to the library of that SONAME in another directory. Programs
that were linked with versions of symbols ask it for these, so it defines them: names alone, without
a symbol (LSB Core, "Symbol Versioning").

The file is laid out as linkers do it, in two segments: one to be read, and one with the
dynamic section, into which glibc before 2.35 writes addresses. That one is filled up with
zeros to the end of its 64 KiB, the largest page of the CPUs, so that PT_GNU_RELRO protects
it whole once it is loaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from struct import pack

from tools.lib.common.program import ToolError
from tools.lib.elf import constants as c
from tools.lib.elf.versions import version_definitions

ORIGIN = "$ORIGIN"
#: The CPUs that forwarders can be made for (e_machine): those whose libraries get an RPATH.
MACHINES = frozenset((c.EM_X86_64, c.EM_AARCH64))
#: Content of the section .comment, by which people and tools know a forwarder.
COMMENT = b"rules_rocm_python forwarder\0"
#: Alignment of segments, in bytes: the largest page that a CPU of MACHINES may have.
PAGE = 0x10000

EHDR_SIZE, PHDR_SIZE, SHDR_SIZE, SYM_SIZE, DYN_SIZE = 64, 56, 64, 24, 16
SEGMENTS = 5


@dataclass(frozen=True)
class _Section:
    """One section: where it lies in the file, and the fields of its header that are not zero."""

    name: str
    kind: int
    content: bytes
    offset: int
    flags: int = 0
    address: int = 0
    link: int = 0
    info: int = 0
    align: int = 1
    entry_size: int = 0

    @property
    def end(self) -> int:
        """File offset behind the section."""
        return self.offset + len(self.content)

    def header(self, names: bytes) -> bytes:
        """Return the section header; `names` is the table of section names."""
        place = (self.address, self.offset, len(self.content))
        at = names.index(self.name.encode() + b"\0")
        return pack("<IIQQQQIIQQ", at, self.kind, self.flags, *place, self.link, self.info, self.align, self.entry_size)


def _aligned(offset: int, align: int) -> int:
    return -(-offset // align) * align


def _version_sections(names: list[tuple[bytes, int]], end: int) -> list[_Section]:
    """Lay out .gnu.version and .gnu.version_d behind the file offset `end`; `names` as for the definitions."""
    start = _aligned(end, 2)
    # Of the null symbol alone.
    versym = _Section(
        ".gnu.version", c.SHT_GNU_VERSYM, bytes(2), start, c.SHF_ALLOC, start, 2, align=2, entry_size=2
    )  # fmt: skip
    start = _aligned(versym.end, 4)
    definitions = version_definitions(dict(enumerate(names, 1)))
    verdef = _Section(
        ".gnu.version_d", c.SHT_GNU_VERDEF, definitions, start, c.SHF_ALLOC, start, 3, len(names), 4
    )  # fmt: skip
    return [versym, verdef]


def _loaded_sections(soname: str, needed: str, versions: Sequence[str]) -> list[_Section]:
    """Lay out what the loader reads, one behind the other: symbols, strings, versions if there are any, .dynamic."""
    strings = [b"", soname.encode(), needed.encode(), ORIGIN.encode(), *(version.encode() for version in versions)]
    dynstr = b"".join(text + b"\0" for text in strings)
    at = list(accumulate((len(text) + 1 for text in strings[:-1]), initial=0))
    # One bucket and one symbol, the null symbol: the table of a library that defines nothing.
    hash_ = _Section(
        ".hash", c.SHT_HASH, pack("<4I", 1, 1, 0, 0), EHDR_SIZE + SEGMENTS * PHDR_SIZE, c.SHF_ALLOC,
        address=EHDR_SIZE + SEGMENTS * PHDR_SIZE, link=2, align=8, entry_size=4,
    )  # fmt: skip
    dynsym = _Section(
        ".dynsym", c.SHT_DYNSYM, bytes(SYM_SIZE), hash_.end, c.SHF_ALLOC, hash_.end, 3, 1, 8, SYM_SIZE
    )  # fmt: skip
    table = _Section(".dynstr", c.SHT_STRTAB, dynstr, dynsym.end, c.SHF_ALLOC, dynsym.end)
    names = [(strings[1], at[1]), *zip(strings[4:], at[4:], strict=True)]
    versioned = _version_sections(names, table.end) if versions else []
    entries = [
        (c.DT_NEEDED, at[2]),
        (c.DT_SONAME, at[1]),
        (c.DT_RPATH, at[3]),
        (c.DT_HASH, hash_.address),
        (c.DT_STRTAB, table.address),
        (c.DT_SYMTAB, dynsym.address),
        (c.DT_STRSZ, len(dynstr)),
        (c.DT_SYMENT, SYM_SIZE),
        *zip((c.DT_VERSYM, c.DT_VERDEF), (section.address for section in versioned), strict=False),
        *([(c.DT_VERDEFNUM, len(names))] if versions else []),
        (c.DT_NULL, 0),
    ]
    offset = _aligned([table, *versioned][-1].end, 8)
    dynamic = _Section(
        ".dynamic", c.SHT_DYNAMIC, b"".join(pack("<qQ", *entry) for entry in entries), offset,
        c.SHF_ALLOC | c.SHF_WRITE, PAGE + offset, link=3, align=8, entry_size=DYN_SIZE,
    )  # fmt: skip
    return [hash_, dynsym, table, *versioned, dynamic]


def _program_headers(read_size: int, dynamic: _Section) -> bytes:
    """Return the program headers; `read_size` is the size of the segment that is only read, in bytes."""
    size, to_page_end = len(dynamic.content), PAGE - dynamic.address % PAGE
    segments = [
        (c.PT_LOAD, c.PF_R, 0, 0, read_size, read_size, PAGE),
        (c.PT_LOAD, c.PF_R | c.PF_W, dynamic.offset, dynamic.address, size, to_page_end, PAGE),
        (c.PT_DYNAMIC, c.PF_R | c.PF_W, dynamic.offset, dynamic.address, size, size, 8),
        (c.PT_GNU_RELRO, c.PF_R, dynamic.offset, dynamic.address, size, to_page_end, 1),
        (c.PT_GNU_STACK, c.PF_R | c.PF_W, 0, 0, 0, 0, 16),
    ]
    return b"".join(
        pack("<IIQQQQQQ", kind, flags, offset, address, address, filesz, memsz, align)
        for kind, flags, offset, address, filesz, memsz, align in segments
    )


def _elf_header(machine: int, section_headers: int, sections: int) -> bytes:
    """Return the ELF header; `section_headers` is the file offset of the table of so many `sections`."""
    ident = b"\x7fELF" + bytes((c.ELFCLASS64, c.ELFDATA2LSB, c.EV_CURRENT))
    sizes = (EHDR_SIZE, PHDR_SIZE, SEGMENTS, SHDR_SIZE, sections, sections - 1)
    return pack(
        "<16sHHIQQQIHHHHHH", ident.ljust(16, b"\0"), c.ET_DYN, machine, c.EV_CURRENT, 0, EHDR_SIZE, section_headers,
        0, *sizes,
    )  # fmt: skip


def forwarder(soname: str, target: str, machine: int, versions: Sequence[str] = ()) -> bytes:
    """Return the library `soname` that brings another one: by its SONAME `target` that which lies beside it.

    A `target` with a `/` is a path, relative to the forwarder's directory. `machine` is the CPU (e_machine), `versions`
    are those of symbols, which the forwarder defines. Raises ToolError for a CPU that is not in MACHINES.
    """
    if machine not in MACHINES:
        raise ToolError(
            f"{soname}: a forwarder for e_machine {machine}; expected one of {sorted(MACHINES)}. "
            "The plan makes none for other CPUs"
        )
    loaded = _loaded_sections(soname, f"{ORIGIN}/{target}" if "/" in target else target, versions)
    dynamic = loaded[-1]
    comment = _Section(".comment", c.SHT_PROGBITS, COMMENT, dynamic.end)
    names = b"".join(name.encode() + b"\0" for name in ["", *(one.name for one in loaded), ".comment", ".shstrtab"])
    name_table = _Section(".shstrtab", c.SHT_STRTAB, names, comment.end)
    sections = [*loaded, comment, name_table]
    start = _aligned(name_table.end, 8)
    header = _elf_header(machine, start, len(sections) + 1) + _program_headers(loaded[-2].end, dynamic)
    content = bytearray(header.ljust(start, b"\0"))
    for section in sections:
        content[section.offset : section.end] = section.content
    return bytes(content) + bytes(SHDR_SIZE) + b"".join(section.header(names) for section in sections)
