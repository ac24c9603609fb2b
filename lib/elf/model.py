"""The facts about an ELF file, as `lib.elf.reader.read_elf` returns them.

Fields follow the names of the gABI's structures. Offsets are file offsets in bytes; addresses (`vaddr`, `addr`) are
virtual addresses as linked, before any load bias.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lib.elf import constants as c
from lib.elf.platforms import BY_MACHINE, CPUS


@dataclass(frozen=True, slots=True)
class ProgramHeader:
    """An Elf64_Phdr; `position` is the file offset of the header itself."""

    position: int
    type: int
    flags: int
    offset: int
    vaddr: int
    paddr: int
    filesz: int
    memsz: int
    align: int

    @property
    def file_end(self) -> int:
        """The file offset behind the segment's last byte in the file."""
        return self.offset + self.filesz

    @property
    def memory_end(self) -> int:
        """The virtual address behind the segment's last byte in memory."""
        return self.vaddr + self.memsz


@dataclass(frozen=True, slots=True)
class SectionHeader:
    """An Elf64_Shdr; `position` is the file offset of the header itself, `name` the resolved sh_name."""

    position: int
    name: str
    type: int
    flags: int
    addr: int
    offset: int
    size: int
    link: int
    info: int
    addralign: int
    entsize: int

    @property
    def file_end(self) -> int:
        """The file offset behind the section's last byte in the file (SHT_NOBITS has none there)."""
        return self.offset if self.type == c.SHT_NOBITS else self.offset + self.size


@dataclass(frozen=True, slots=True)
class DynamicEntry:
    """An Elf64_Dyn; `position` is the file offset of the entry itself."""

    position: int
    tag: int
    value: int


@dataclass(frozen=True, slots=True)
class Note:
    """A note of a PT_NOTE segment; `offset` and `size` say where in the file its descriptor is."""

    owner: str
    type: int
    offset: int
    size: int


@dataclass(frozen=True)
class ElfFile:
    """Headers and tables of an ELF file.

    Of relocatable files, core dumps, 32-bit and big-endian files only the fields up to `shoff` are read.
    `rpath` and `runpath` are the strings as they stand (entries separated by `:`), None where there is no such entry.
    """

    path: str
    size: int
    elf_class: int
    """32 or 64."""
    little_endian: bool
    type: int
    machine: int
    flags: int
    entry: int
    phoff: int = 0
    shoff: int = 0
    shstrndx: int = 0
    program_headers: tuple[ProgramHeader, ...] = ()
    section_headers: tuple[SectionHeader, ...] = ()
    dynamic: tuple[DynamicEntry, ...] = ()
    """The dynamic section up to, not including, the first DT_NULL."""
    dynamic_spare: int = 0
    """How many DT_NULL entries follow the first, which ends the dynamic section."""
    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: str | None = None
    runpath: str | None = None
    interpreter: str | None = None
    versions_needed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each library that versioned symbols are needed from, the versions (`{"libc.so.6": ("GLIBC_2.34",)}`)."""
    versions_defined: tuple[str, ...] = ()
    """The versions of symbols that a library defines, its own name first."""
    notes: tuple[Note, ...] = ()
    build_id: str | None = None
    """The GNU build ID in hexadecimal."""
    debug_only: bool = False
    """Whether this is a separate file of debug information, whose loaded sections are not in it."""

    @property
    def has_dynamic(self) -> bool:
        """Whether there is a dynamic section (a static program has none)."""
        return bool(self.dynamic)

    @property
    def is_program(self) -> bool:
        """Whether this is meant to be run: at a fixed address, marked as PIE (DF_1_PIE), or interpreted and unnamed.

        (glibc's libc.so.6 has an interpreter, and can be run; but it has a SONAME: it is a library.)
        """
        if self.type == c.ET_EXEC or (self.interpreter is not None and self.soname is None):
            return True
        return bool((self.dynamic_value(c.DT_FLAGS_1) or 0) & c.DF_1_PIE)

    @property
    def is_static_pie(self) -> bool:
        """Whether this is a program that relocates itself: no loader reads its dynamic section (ld's -static-pie)."""
        return self.has_dynamic and self.is_program and self.interpreter is None and not self.needed

    @property
    def loads(self) -> tuple[ProgramHeader, ...]:
        """The PT_LOAD program headers."""
        return tuple(header for header in self.program_headers if header.type == c.PT_LOAD)

    def program_header(self, header_type: int) -> ProgramHeader | None:
        """Return the first program header of a type, None if there is none."""
        return next((header for header in self.program_headers if header.type == header_type), None)

    def dynamic_value(self, tag: int) -> int | None:
        """Return the value of the last dynamic entry with this tag (the loader takes that one), or None."""
        return next((entry.value for entry in reversed(self.dynamic) if entry.tag == tag), None)

    def offset_of(self, vaddr: int, size: int = 1) -> int | None:
        """Return the file offset of `size` bytes at a virtual address; None where no segment has them in the file.

        A segment may have the first of them, and the next one the others, if they follow each other in the file, too.
        """
        for number, load in enumerate(self.loads):
            end, shift = load.vaddr + load.filesz, load.offset - load.vaddr
            for following in self.loads[number + 1 :]:
                if (following.vaddr, following.offset) == (end, end + shift):
                    end += following.filesz
            if load.vaddr <= vaddr and vaddr + size <= end:
                return shift + vaddr
        return None


#: What the SONAME of glibc's dynamic loader begins with (ld-linux-x86-64.so.2, ld-linux-aarch64.so.1).
LOADER_NAMES: Final = ("ld-linux", "ld.so.", "ld64.so.")
#: How an entry of a search path begins that moves with its file (ld.so(8), "Dynamic string tokens").
_ORIGIN: Final = re.compile(r"\$(?:ORIGIN|\{ORIGIN\})(?=/|$)")


def after_origin(entry: str) -> str | None:
    """Return what an entry of a search path has behind $ORIGIN, such as `/../lib`; None if it begins otherwise.

    Others depend on the machine: they are directories of it, or begin in the current one.
    """
    match = _ORIGIN.match(entry)
    return entry[match.end() :] if match else None


def refusal(elf: ElfFile) -> str | None:
    """Return why a file of this kind is not edited; None if it can be edited."""
    if elf.elf_class != 64 or not elf.little_endian:
        order = "little" if elf.little_endian else "big"
        return f"only 64-bit little-endian files are edited; this one is {elf.elf_class}-bit {order}-endian"
    if elf.type not in (c.ET_EXEC, c.ET_DYN):
        return f"only programs and shared libraries are edited; e_type is {elf.type} (1: relocatable, 4: core dump)"
    if elf.machine not in BY_MACHINE:
        known = " and ".join(f"{cpu.name} ({cpu.elf_machine})" for cpu in CPUS)
        return f"only {known} files are edited; e_machine is {elf.machine} (224: AMD GPU code)"
    if elf.debug_only:
        return "a separate file of debug information is not edited"
    if not elf.has_dynamic:
        return "there is no dynamic section: a static program has no search path, SONAME or needed libraries"
    if elf.is_static_pie:
        return "this is a static PIE: it relocates itself by its own dynamic section, and crashes if that moves"
    if (elf.soname or "").startswith(LOADER_NAMES):
        return f"{elf.soname} is the dynamic loader: glibc's aborts when it has a search path of its own"
    return None
