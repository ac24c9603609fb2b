"""Reads what an ELF file says about itself, from its headers and tables alone.

    with open(path, "rb") as file:
        elf = read_elf(file, path)
    print(elf.soname, elf.needed, elf.rpath)

A library of gigabytes costs a few kilobytes of reading. Damage of any kind is an `ElfError`, never another exception.
The structures come from the System V gABI ("Object Files", "Program Loading and Dynamic Linking") and, for symbol
versions, from the LSB Core. They are unpacked with `struct`: the build starts this program once per file, so that its
start counts, and pyelftools (which the tests compare it with) takes longer to import than this takes to run.
"""

from dataclasses import replace
from struct import Struct
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.model import DynamicEntry, ElfFile, Note, ProgramHeader, SectionHeader
from lib.elf.source import MAX_COUNT, MAX_TABLE, ElfError, Source
from lib.elf.versions import verdef_entries, verneed_entries

ELF_MAGIC: Final = b"\x7fELF"
EHDR64: Final = Struct("<16xHHIQQQIHHHHHH")
PHDR64: Final = Struct("<IIQQQQQQ")
SHDR64: Final = Struct("<IIQQQQIIQQ")
DYN64: Final = Struct("<qQ")
NHDR: Final = Struct("<III")
#: User space ends below this virtual address on every machine.
MAX_ADDRESS: Final = 1 << 63
#: So are more program headers than this.
MAX_SEGMENTS: Final = 1 << 10


def is_elf(head: bytes) -> bool:
    """Whether a file that begins with `head` (four bytes or more) is an ELF file."""
    return head.startswith(ELF_MAGIC)


def read_elf(file: BinaryIO, path: str) -> ElfFile:
    """Read the facts about the ELF file open in `file` (seekable), called `path` in errors.

    Raises ElfError when the file is not ELF, is truncated, or contradicts itself.
    """
    source = Source(file, path)
    elf = _read_header(source)
    if elf.elf_class == 32 or not elf.little_endian or elf.type not in (c.ET_EXEC, c.ET_DYN):
        return elf
    elf = _read_tables(source, elf)
    if elf.debug_only:
        return elf
    for load in elf.loads:
        source.require(load.offset, load.filesz, f"the PT_LOAD segment at {load.vaddr:#x}")
        if load.memory_end > MAX_ADDRESS:
            raise source.error(load.position, f"the PT_LOAD segment at {load.vaddr:#x} reaches beyond {MAX_ADDRESS:#x}")
    elf = replace(elf, interpreter=_read_interpreter(source, elf), notes=_read_notes(source, elf))
    elf = replace(elf, build_id=_read_build_id(source, elf))
    return _read_dynamic(source, elf)


def _read_header(source: Source) -> ElfFile:
    """Read the fields that every class and byte order has (gABI, "ELF Header")."""
    ident = source.read(0, 16, "the ELF identification")
    if not is_elf(ident):
        raise source.error(0, f"not an ELF file: it begins with {ident[:4]!r}")
    elf_class = {c.ELFCLASS32: 32, c.ELFCLASS64: 64}.get(ident[c.EI_CLASS])
    if elf_class is None:
        raise source.error(c.EI_CLASS, f"EI_CLASS is {ident[c.EI_CLASS]}, neither 1 (32-bit) nor 2 (64-bit)")
    if ident[c.EI_DATA] not in (c.ELFDATA2LSB, c.ELFDATA2MSB):
        raise source.error(c.EI_DATA, f"EI_DATA is {ident[c.EI_DATA]}, neither 1 (little-endian) nor 2 (big-endian)")
    little = ident[c.EI_DATA] == c.ELFDATA2LSB
    word = "Q" if elf_class == 64 else "I"
    layout = Struct(f"{'<' if little else '>'}16xHHI{word}{word}{word}I")
    kind, machine, version, entry, phoff, shoff, flags = source.unpack(layout, 0, "the ELF header")
    if version != c.EV_CURRENT:
        raise source.error(20, f"e_version is {version}, not 1")
    return ElfFile(source.path, source.size, elf_class, little, kind, machine, flags, entry, phoff=phoff, shoff=shoff)


def _read_tables(source: Source, elf: ElfFile) -> ElfFile:
    """Add program and section headers, with the gABI's extended numbering for more than 65,279 of them."""
    *_, phentsize, phnum, shentsize, shnum, shstrndx = source.unpack(EHDR64, 0, "the ELF header")
    if elf.shoff:
        if shentsize != SHDR64.size:
            raise source.error(58, f"e_shentsize is {shentsize}, not {SHDR64.size}")
        first = source.unpack(SHDR64, elf.shoff, "the first section header")
        shnum = shnum or first[5]
        shstrndx = first[6] if shstrndx == c.SHN_XINDEX else shstrndx
        phnum = first[7] if phnum == c.PN_XNUM else phnum
    else:
        shnum = 0
    if phnum > MAX_SEGMENTS or shnum > MAX_COUNT:
        raise source.error(56, f"{phnum} program headers and {shnum} sections: more than a real file has")
    if phnum and phentsize != PHDR64.size:
        raise source.error(54, f"e_phentsize is {phentsize}, not {PHDR64.size}")
    raw = source.unpack_all(PHDR64, elf.phoff, phnum * PHDR64.size, f"the table of {phnum} program headers")
    programs = tuple(ProgramHeader(elf.phoff + PHDR64.size * at, *fields) for at, fields in enumerate(raw))
    sections = _read_sections(source, elf.shoff, shnum, shstrndx)
    elf = replace(elf, program_headers=programs, section_headers=sections, shstrndx=shstrndx)
    return replace(elf, debug_only=_is_debug_only(elf))


def _is_debug_only(elf: ElfFile) -> bool:
    """Whether `objcopy --only-keep-debug` or `eu-strip -f` made the file: its dynamic section or code has no bytes.

    eu-strip leaves the program headers as they were. A section without bytes may begin where .dynamic does (.tbss takes
    no addresses), but is not of its size.
    """
    loaded = [section for section in elf.section_headers if section.flags & c.SHF_ALLOC]
    dynamic = elf.program_header(c.PT_DYNAMIC)
    if dynamic is not None and dynamic.memsz:
        place = (c.SHT_NOBITS, dynamic.vaddr, dynamic.memsz)
        return not dynamic.filesz or any((one.type, one.addr, one.size) == place for one in loaded)
    code = [section.type == c.SHT_NOBITS for section in loaded if section.flags & c.SHF_EXECINSTR]
    return bool(code) and all(code)


def _read_sections(source: Source, shoff: int, count: int, shstrndx: int) -> tuple[SectionHeader, ...]:
    raw = source.unpack_all(SHDR64, shoff, count * SHDR64.size, f"the table of {count} section headers")
    names = b""
    if shstrndx:
        if shstrndx >= count:
            raise source.error(62, f"e_shstrndx is {shstrndx}, but there are {count} sections")
        names = source.read(raw[shstrndx][4], raw[shstrndx][5], "the section name table")
    headers = []
    for index, (name, *fields) in enumerate(raw):
        position = shoff + SHDR64.size * index
        if names and name >= len(names):
            raise source.error(
                position, f"section {index} has its name at {name}, beyond the name table of {len(names)} bytes"
            )
        text = names[name : names.find(b"\0", name)].decode("utf-8", "surrogateescape") if names else ""
        header = SectionHeader(position, text, *fields)
        if header.type not in (c.SHT_NULL, c.SHT_NOBITS):
            source.require(header.offset, header.size, f"section {index} ({text})")
        headers.append(header)
    return tuple(headers)


def _read_interpreter(source: Source, elf: ElfFile) -> str | None:
    header = elf.program_header(c.PT_INTERP)
    if header is None:
        return None
    return source.read_string(header.offset, header.file_end, "the interpreter's path (PT_INTERP)")


def _read_notes(source: Source, elf: ElfFile) -> tuple[Note, ...]:
    """Read the loaded notes (gABI, "Note Section"): aligned to 4 bytes or, if section or segment say so, to 8.

    Sections are preferred: mold puts notes of both alignments into one PT_NOTE segment, and calls it aligned to 8.
    """
    places = [
        (s.offset, s.size, s.addralign) for s in elf.section_headers if s.type == c.SHT_NOTE and s.flags & c.SHF_ALLOC
    ]
    if not places:
        places = [(p.offset, p.filesz, p.align) for p in elf.program_headers if p.type == c.PT_NOTE]
    found: list[Note] = []
    for offset, size, align in places:
        data = source.read(offset, size, "a note section or segment")
        notes = (_parse_notes(data, offset, 8) if align == 8 else None) or _parse_notes(data, offset, 4)
        if notes is None:
            raise source.error(offset, f"a note reaches beyond the {size} bytes of its section or segment")
        found += notes
    return tuple(found)


def _parse_notes(data: bytes, offset: int, align: int) -> list[Note] | None:
    """Read the notes in `data`, which begins at file offset `offset`; None if they do not fit."""
    notes: list[Note] = []
    at = 0
    while at + NHDR.size <= len(data):
        name_size, size, kind = NHDR.unpack_from(data, at)
        start = at + NHDR.size
        descriptor = _align(start + name_size, align)
        if descriptor + size > len(data) or len(notes) == MAX_COUNT:
            return None
        owner = data[start : start + name_size].rstrip(b"\0").decode("utf-8", "surrogateescape")
        notes.append(Note(owner, kind, offset + descriptor, size))
        at = _align(descriptor + size, align)
    return notes


def _read_build_id(source: Source, elf: ElfFile) -> str | None:
    note = next((note for note in elf.notes if note.owner == "GNU" and note.type == c.NT_GNU_BUILD_ID), None)
    return None if note is None else source.read(note.offset, note.size, "the build ID").hex()


def _read_dynamic(source: Source, elf: ElfFile) -> ElfFile:
    """Add the dynamic section and the strings it points to."""
    header = elf.program_header(c.PT_DYNAMIC)
    if header is None or not header.filesz:
        return elf
    if elf.offset_of(header.vaddr, header.filesz) != header.offset:
        raise source.error(header.position, "PT_DYNAMIC is not inside a PT_LOAD segment with the same offset")
    if header.filesz > MAX_COUNT * DYN64.size:
        raise source.error(header.position, f"PT_DYNAMIC has {header.filesz} bytes: more than a real file has")
    raw = source.unpack_all(DYN64, header.offset, header.filesz, "the dynamic section")
    end = next((index for index, (tag, _) in enumerate(raw) if tag == c.DT_NULL), None)
    if end is None:
        raise source.error(header.offset, f"the dynamic section of {len(raw)} entries does not end with DT_NULL")
    spare = next((n for n, (tag, _) in enumerate(raw[end + 1 :]) if tag != c.DT_NULL), len(raw) - end - 1)
    entries = tuple(DynamicEntry(header.offset + DYN64.size * at, *fields) for at, fields in enumerate(raw[:end]))
    elf = replace(elf, dynamic=entries, dynamic_spare=spare)
    if not any(entry.tag in (*c.STRING_TAGS, c.DT_VERNEED, c.DT_VERDEF) for entry in entries):
        return elf
    offset, size = string_table(elf)
    source.require(offset, size, "the dynamic string table")
    named = {
        entry: source.read_string(
            offset + min(entry.value, size), offset + size, f"the string of dynamic entry {entry.tag:#x}"
        )
        for entry in entries
        if entry.tag in (c.DT_NEEDED, c.DT_SONAME, c.DT_RPATH, c.DT_RUNPATH)
    }
    last = {entry.tag: text for entry, text in named.items()}
    return replace(
        elf,
        needed=tuple(text for entry, text in named.items() if entry.tag == c.DT_NEEDED),
        soname=last.get(c.DT_SONAME),
        rpath=last.get(c.DT_RPATH),
        runpath=last.get(c.DT_RUNPATH),
        versions_needed=_read_versions(source, elf, offset, size),
        versions_defined=_read_definitions(source, elf, offset, size),
    )


def string_table(elf: ElfFile) -> tuple[int, int]:
    """File offset and size in bytes of the dynamic string table. Raises ElfError when the file does not hold it."""
    address, size = elf.dynamic_value(c.DT_STRTAB), elf.dynamic_value(c.DT_STRSZ)
    position = elf.dynamic[0].position
    if address is None or size is None:
        raise ElfError(elf.path, position, "the dynamic section has no DT_STRTAB or no DT_STRSZ")
    if not 0 < size <= MAX_TABLE:
        raise ElfError(elf.path, position, f"DT_STRSZ is {size}; expected 1 to {MAX_TABLE} bytes")
    offset = elf.offset_of(address, size)
    if offset is None:
        raise ElfError(elf.path, position, f"DT_STRTAB {address:#x} with {size} bytes is in no PT_LOAD segment")
    return offset, size


def _read_versions(source: Source, elf: ElfFile, strings: int, size: int) -> dict[str, tuple[str, ...]]:
    versions: dict[str, tuple[str, ...]] = {}
    for at, file, required in verneed_entries(source, elf):
        names = [version.name for version in required]
        if max(file, *names, 0) >= size:
            raise source.error(at, f"a symbol version requirement has its name beyond the string table of {size} bytes")
        library = source.read_string(strings + file, strings + size, "a library's name in the version requirements")
        wanted = (source.read_string(strings + name, strings + size, "a version's name") for name in names)
        versions[library] = versions.get(library, ()) + tuple(wanted)
    return versions


def _read_definitions(source: Source, elf: ElfFile, strings: int, size: int) -> tuple[str, ...]:
    found = [(at, defined[0].name) for at, _, defined in verdef_entries(source, elf) if defined]
    for at, name in found:
        if name >= size:
            raise source.error(at, f"a symbol version has its name beyond the string table of {size} bytes")
    return tuple(source.read_string(strings + name, strings + size, "a version's name") for _, name in found)


def _align(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment
