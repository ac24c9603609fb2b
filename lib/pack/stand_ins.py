"""Makes what stands in for a link, which wheels have not: launchers of programs, and forwarders to libraries.

A launcher is compiled; its target is written into the section that it reserves for that.

A forwarder has about 1 KB. Programs open `libfoo.so` at run time, but a wheel has the library once, as `libfoo.so.1`. A
copy would be a second instance with state of its own. The forwarder named `libfoo.so` defines nothing and needs
`libfoo.so.1` of its own directory, so `dlopen` and `dlsym` through it reach the one real library (System V gABI,
"Dynamic Linking"). A forwarder named `libfoo.so.1` leads to the library of that SONAME in another directory. Programs
that were linked with versions of symbols ask it for these, so it defines them: names alone, without a symbol (LSB Core,
"Symbol Versioning").

A forwarder is laid out as linkers do it, in two segments: one to be read, and one with the dynamic section, into which
glibc before 2.35 writes addresses. That one is filled up with zeros to the end of its 64 KiB, the largest page of the
CPUs, so that PT_GNU_RELRO protects it whole once it is loaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct, pack
from typing import BinaryIO, Final

from lib.common.program import ToolError
from lib.elf import constants as c
from lib.elf.constants import EM_386, EM_X86_64, SHT_PROGBITS
from lib.elf.dynamic_symbols import SYM
from lib.elf.platforms import BY_MACHINE, CPUS
from lib.elf.reader import DYN64, PHDR64, read_elf
from lib.elf.source import ElfError
from lib.elf.versions import version_definitions
from lib.elf.writer import ElfWriter, Section, StringTableWriter
from lib.pe.constants import IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_I386
from lib.pe.model import MACHINES
from lib.pe.reader import is_pe, read_pe

#: The section of tools/actions/launcher/linux.c, zero-filled, that holds the NUL-terminated target; of windows.c, too.
SECTION: Final = ".launcher.target"
PE_SECTION: Final = ".target"
#: The CPUs that launchers are compiled for, and how platforms name them.
NAMES: Final = {cpu.elf_machine: cpu.name for cpu in CPUS} | MACHINES
#: CPU of a program -> another CPU that runs it as well.
RUNS_ON: Final = {EM_386: EM_X86_64, IMAGE_FILE_MACHINE_I386: IMAGE_FILE_MACHINE_AMD64}
SUBSYSTEM: Final = Struct("<H")


@dataclass(frozen=True)
class _Template:
    """The compiled launcher: for which CPU it is, and where its bytes are to be replaced; offsets are in bytes."""

    machine: int
    #: Of the section for the target.
    offset: int
    room: int
    #: Of the subsystem; None for ELF, which has none.
    subsystem_offset: int | None = None


def _read_template(file: BinaryIO, path: str) -> _Template:
    """Read the compiled launcher. Raises ToolError if this is none."""
    try:
        if is_pe(file.read(2)):
            image = read_pe(file, path)
            for section in image.sections:
                if section.name == PE_SECTION and section.pointer_to_raw_data:
                    return _Template(image.machine, section.begin, section.size_in_file, image.subsystem_offset)
            raise ToolError(f"{path}: no bytes for section {PE_SECTION}; expected the compiled launcher")
        elf = read_elf(file, path)
    except ElfError as error:
        raise ToolError(f"{error}; expected the compiled launcher, an ELF or PE program") from None
    for header in elf.section_headers:
        if header.name == SECTION and header.type == SHT_PROGBITS:
            return _Template(elf.machine, header.offset, header.size)
    raise ToolError(f"{path}: no bytes for section {SECTION}; expected the compiled launcher")


def _check_machine(launcher: int, path: str, target: str, machine: int) -> None:
    """Raise ToolError unless the launcher and what it starts run on one CPU; both are an e_machine, or a Machine."""
    if RUNS_ON.get(machine, machine) != launcher:
        made, wanted = (NAMES.get(one, f"e_machine {one}") for one in (launcher, machine))
        other = f"Set --platforms to a platform of {wanted}, for which launchers are compiled then, or exclude"
        raise ToolError(
            f"{path}: its launcher is for {made}, but {target}, which it starts, is for {wanted}; expected one CPU. "
            f"{other if machine in NAMES else 'Exclude'} {path} from the package"
        )


def finished_launcher(
    template: str, path: str, target: str, machine: int | None = None, subsystem: int | None = None
) -> bytes:
    """Return the bytes of the launcher that executes `target`, a path relative to its own directory.

    `machine` is the CPU of the target (e_machine, or Machine of a PE image), None if that is not known; `subsystem` is
    the target's, if it is a PE image: the launcher gets the same, so one of a program without console opens none.
    Raises ToolError when the launcher is for another CPU, and when the target does not fit the reserved section.
    """
    with open(template, "rb") as file:
        found = _read_template(file, template)
        _check_machine(found.machine, path, target, machine or found.machine)
        file.seek(0)
        program = bytearray(file.read())
    text = target.encode() + b"\0"
    if len(text) > found.room:
        raise ToolError(
            f"{path}: the launcher's target {target!r} takes {len(text)} bytes; at most {found.room} fit. Shorten the "
            "path"
        )
    program[found.offset : found.offset + len(text)] = text
    if subsystem and found.subsystem_offset:
        SUBSYSTEM.pack_into(program, found.subsystem_offset, subsystem)
    return bytes(program)


ORIGIN = "$ORIGIN"
#: Content of the section .comment, which tells people and tools that a file is a forwarder.
COMMENT = b"rules_rocm_python forwarder\0"
#: Alignment of segments, in bytes: the largest page that a CPU may have.
PAGE = 0x10000

#: Program headers of a forwarder.
SEGMENTS = 5


def _place_versions(file: ElfWriter, names: list[tuple[bytes, int]]) -> list[Section]:
    """Place .gnu.version and .gnu.version_d; `names` as for the definitions."""
    of_null_symbol = Section(".gnu.version", c.SHT_GNU_VERSYM, bytes(2), c.SHF_ALLOC, 2, align=2, entry_size=2)
    definitions = version_definitions(dict(enumerate(names, 1)))
    defined = Section(".gnu.version_d", c.SHT_GNU_VERDEF, definitions, c.SHF_ALLOC, 3, len(names), 4)
    return [file.place(one, base=0) for one in (of_null_symbol, defined)]


def _place_loaded(file: ElfWriter, soname: str, needed: str, versions: Sequence[str]) -> tuple[Section, Section]:
    """Place what the loader reads; return the last section that is only read, and the dynamic section."""
    strings = StringTableWriter()
    name, library, origin = (strings.at(text) for text in (soname, needed, ORIGIN))
    names = [(text.encode(), strings.at(text)) for text in (soname, *versions)]
    # One bucket and one symbol, the null symbol: the table of a library that defines nothing.
    hash_ = Section(".hash", c.SHT_HASH, pack("<4I", 1, 1, 0, 0), c.SHF_ALLOC, 2, align=8, entry_size=4)
    dynsym = Section(".dynsym", c.SHT_DYNSYM, bytes(SYM.size), c.SHF_ALLOC, 3, 1, 8, SYM.size)
    dynstr = Section(".dynstr", c.SHT_STRTAB, strings.content, c.SHF_ALLOC)
    hash_, dynsym, dynstr = (file.place(one, base=0) for one in (hash_, dynsym, dynstr))
    versioned = _place_versions(file, names) if versions else []
    entries = [
        (c.DT_NEEDED, library),
        (c.DT_SONAME, name),
        (c.DT_RPATH, origin),
        (c.DT_HASH, hash_.address),
        (c.DT_STRTAB, dynstr.address),
        (c.DT_SYMTAB, dynsym.address),
        (c.DT_STRSZ, len(dynstr.content)),
        (c.DT_SYMENT, SYM.size),
        *zip((c.DT_VERSYM, c.DT_VERDEF), (section.address for section in versioned), strict=False),
        *([(c.DT_VERDEFNUM, len(names))] if versions else []),
        (c.DT_NULL, 0),
    ]
    content = b"".join(DYN64.pack(*entry) for entry in entries)
    dynamic = Section(".dynamic", c.SHT_DYNAMIC, content, c.SHF_ALLOC | c.SHF_WRITE, 3, align=8, entry_size=DYN64.size)
    return [dynstr, *versioned][-1], file.place(dynamic, base=PAGE)


def _program_headers(read_size: int, dynamic: Section) -> list[bytes]:
    """Return the program headers; `read_size` is the size of the segment that is only read, in bytes."""
    size, to_page_end = len(dynamic.content), PAGE - dynamic.address % PAGE
    segments = [
        (c.PT_LOAD, c.PF_R, 0, 0, read_size, read_size, PAGE),
        (c.PT_LOAD, c.PF_R | c.PF_W, dynamic.offset, dynamic.address, size, to_page_end, PAGE),
        (c.PT_DYNAMIC, c.PF_R | c.PF_W, dynamic.offset, dynamic.address, size, size, 8),
        (c.PT_GNU_RELRO, c.PF_R, dynamic.offset, dynamic.address, size, to_page_end, 1),
        (c.PT_GNU_STACK, c.PF_R | c.PF_W, 0, 0, 0, 0, 16),
    ]
    return [
        PHDR64.pack(kind, flags, offset, address, address, filesz, memsz, align)
        for kind, flags, offset, address, filesz, memsz, align in segments
    ]


def forwarder(soname: str, target: str, machine: int, versions: Sequence[str] = ()) -> bytes:
    """Return the library `soname` that brings another library: the library beside it with the SONAME `target`.

    A `target` with a `/` is a path, relative to the forwarder's directory. `machine` is the CPU (e_machine), `versions`
    are the symbol versions that the forwarder defines. Raises ToolError for a CPU that packages are not made for.
    """
    if machine not in BY_MACHINE:
        raise ToolError(
            f"{soname}: a forwarder for e_machine {machine}; expected one of {sorted(BY_MACHINE)}. "
            "The plan makes none for other CPUs"
        )
    file = ElfWriter(machine, segments=SEGMENTS)
    last, dynamic = _place_loaded(file, soname, f"{ORIGIN}/{target}" if "/" in target else target, versions)
    file.place(Section(".comment", c.SHT_PROGBITS, COMMENT))
    return file.content(_program_headers(last.end, dynamic))
