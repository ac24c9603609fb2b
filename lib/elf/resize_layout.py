"""Lays out a file again after a section in the middle of a segment got content of another size.

All other addresses stay as they are: code and tables are full of distances between them. So a section that shrinks
leaves a hole in the address space, and its segment is split: what is in front of the hole, the section included, and
what is behind it. In the file there is no hole: what is behind the section moves by whole pages, because a segment's
offset and address agree within a page. A section that grows moves to the end of the address space, into a segment of
its own; the hole is where it was.

A split takes another program header. As in `lib.elf.free_space`, what follows the program headers makes room for
it: here it moves behind the section, whose segment has pages of its own.

`require_resizable` refuses sections for which that cannot be done, and `check_resized` reads the new file back.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.free_space import MIN_PAGE, MovedSpan, displaced, page_size
from lib.elf.model import ElfFile, ProgramHeader, SectionHeader
from lib.elf.patch import Patch
from lib.elf.patched import open_patched
from lib.elf.platforms import BY_MACHINE, CPUS
from lib.elf.reader import MAX_ADDRESS, PHDR64, SHDR64, read_elf
from lib.elf.references import dynamic_symbol_section
from lib.elf.source import ElfError, Source

_ALIGN = 16


@dataclass(frozen=True, slots=True)
class Behind:
    """Parts behind the section, each with its distance from the section's beginning, and the end of the last one."""

    spans: tuple[tuple[MovedSpan, int], ...]
    headers: int | None
    """Where the program headers go; None: they stay."""
    end: int


@dataclass(frozen=True, slots=True)
class ResizeLayout:
    """The bytes of the source from `start` to `end` give way to `lead` zeros, the section and what comes `behind` it.

    `address` is the section's, `size` what its header says; the file goes on `shift` bytes further down than before,
    or up if negative. `programs` are the new program headers, except those that what is behind it changes.
    """

    start: int
    end: int
    lead: int
    address: int
    size: int
    shift: int
    behind: Behind
    programs: tuple[ProgramHeader, ...]

    @property
    def offset(self) -> int:
        """The file offset of the section, in the new file."""
        return self.start + self.lead

    @property
    def fill(self) -> int:
        """Number of zeros at the end, so that what follows moves by whole pages."""
        return self.end + self.shift - self.offset - self.behind.end


@dataclass(frozen=True, slots=True)
class _SectionPlace:
    """The section, the index of the one segment that has it, and what that segment has in front and behind."""

    section: SectionHeader
    index: int
    load: ProgramHeader

    @property
    def head(self) -> int:
        """Bytes of the segment in front of the section."""
        return self.section.offset - self.load.offset

    @property
    def tail(self) -> int:
        """Bytes of the segment's memory behind the section."""
        return self.load.memory_end - self.section.addr - self.section.size


def find_resize_layout(elf: ElfFile, section: SectionHeader, load: ProgramHeader, size: int) -> ResizeLayout:
    """Lay the file out for a `section` of `size` bytes, now in the segment `load`. Raises ElfError if it cannot be."""
    place = _SectionPlace(section, elf.program_headers.index(load), load)
    return _shrunk(elf, place, size) if size <= section.size else _grown(elf, place, size)


def _shrunk(elf: ElfFile, place: _SectionPlace, size: int) -> ResizeLayout:
    """Leave the section where it is; make a segment of what its segment has behind it, unless that saves no page."""
    section, load, page = place.section, place.load, page_size(elf)
    start, end, address = section.offset, section.offset + section.size, section.addr
    stays = Behind((), None, size)
    if section.size - size >= page:
        behind = _behind(elf, address, size, 1) if place.tail else stays
        shift = -((section.size - behind.end) // page * page)
        if shift < 0:
            programs = _all_moved(elf, end, shift)
            programs[place.index : place.index + 1] = [_cut(load, place.head + behind.end), _rest(place, shift)]
            kept = tuple(_needed_flags(elf, header) for header in programs if header is not None)
            return ResizeLayout(start, end, 0, address, size, shift, behind, kept)
    if place.tail:
        return ResizeLayout(start, end, 0, address, section.size, 0, stays, elf.program_headers)
    headers = list(elf.program_headers)
    headers[place.index] = replace(load, filesz=place.head + size, memsz=place.head + size)
    return ResizeLayout(start, end, 0, address, size, 0, stays, tuple(headers))


def _grown(elf: ElfFile, place: _SectionPlace, size: int) -> ResizeLayout:
    """Give the section a segment of its own behind all others; in the file it stays, if its place becomes a hole."""
    section, load, page = place.section, place.load, page_size(elf)
    # Where the two ends of the hole share a page, the segment stays as it is.
    shared = (section.addr - 1) // page >= (section.addr + section.size) // page
    whole = bool(place.head and place.tail) and shared
    start, end = (load.file_end, load.file_end) if whole else (section.offset, section.offset + section.size)
    align = max(page, section.addralign)
    lead = (section.addr - start) % align
    top = max(header.memory_end for header in elf.loads)
    address = -(-top // align) * align + section.addr % align
    behind = _behind(elf, address, size, 1 if whole else bool(place.head) + bool(place.tail))
    if address + behind.end > MAX_ADDRESS:
        raise ElfError(elf.path, load.position, f"no addresses are left for a section of {size} bytes")
    shift = -(-(lead + behind.end - (end - start)) // page) * page
    programs = _all_moved(elf, end, shift)
    parts = (load,) if whole else (_cut(load, place.head), _rest(place, shift))
    programs[place.index : place.index + 1] = parts
    last = max(at for at, header in enumerate(programs) if header is None or header.type == c.PT_LOAD)
    new = ProgramHeader(0, c.PT_LOAD, load.flags, start + lead, address, address, behind.end, behind.end, page)
    programs.insert(last + 1, new)
    kept = tuple(_needed_flags(elf, header) for header in programs if header is not None)
    return ResizeLayout(start, end, lead, address, size, shift, behind, kept)


def _behind(elf: ElfFile, address: int, size: int, count: int) -> Behind:
    """Place what has to move for `count` more program headers behind a section of `size` bytes at `address`."""
    if not count:
        return Behind((), None, size)
    spans = displaced(elf, count)
    if spans is None and (elf.is_program or elf.interpreter is not None):
        reason = "the program headers cannot grow: what follows them is not known to be movable"
        raise ElfError(elf.path, elf.phoff, reason)
    placed = []
    at = size
    for span in spans or ():
        at += -(address + at) % _ALIGN
        placed.append((span, at))
        at += span.size
    if spans is not None:
        return Behind(tuple(placed), None, at)
    at += -(address + at) % _ALIGN
    return Behind((), at, at + PHDR64.size * (len(elf.program_headers) + count))


def _cut(load: ProgramHeader, size: int) -> ProgramHeader | None:
    """Return the segment without what is behind its first `size` bytes; None if there are none."""
    return replace(load, filesz=size, memsz=size) if size else None


def _rest(place: _SectionPlace, shift: int) -> ProgramHeader | None:
    """Return a segment of what is behind the section, moved down the file by `shift`; None if there is nothing."""
    way = place.head + place.section.size
    load = place.load
    if not place.tail:
        return None
    return replace(
        load,
        offset=load.offset + way + shift,
        vaddr=load.vaddr + way,
        paddr=(load.paddr + way) % (1 << 64),
        filesz=load.filesz - way,
        memsz=place.tail,
    )


def _all_moved(elf: ElfFile, end: int, shift: int) -> list[ProgramHeader | None]:
    """Return the program headers; what is behind file offset `end` is moved by `shift`."""
    return [
        replace(header, offset=(header.offset + shift) % (1 << 64)) if header.offset >= end else header
        for header in elf.program_headers
    ]


def _needed_flags(elf: ElfFile, header: ProgramHeader) -> ProgramHeader:
    """Return the header of a new segment, executable only if it has code; an old segment's header stays as it is."""
    code = any(
        section.flags & c.SHF_EXECINSTR and header.vaddr <= section.addr < header.memory_end
        for section in elf.section_headers
    )
    was_there = any((one.vaddr, one.memsz) == (header.vaddr, header.memsz) for one in elf.program_headers)
    return header if code or was_there or header.type != c.PT_LOAD else replace(header, flags=header.flags & ~c.PF_X)


#: Dynamic entries whose value is an address (gABI, "Dynamic Section"; LSB Core and GNU extensions).
ADDRESS_TAGS: Final = frozenset(
    (3, 4, 5, 6, 7, 12, 13, 17, 21, 23, 25, 26, 32, 36, 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFE)
)
#: No page is larger, in bytes; files are padded up to what they ask for.
MAX_ALIGNMENT: Final = 1 << 24
#: What a file says of itself that does not depend on where things are.
_FACTS: Final = (
    "type",
    "machine",
    "flags",
    "entry",
    "soname",
    "needed",
    "rpath",
    "runpath",
    "interpreter",
    "versions_needed",
    "versions_defined",
    "build_id",
    "dynamic_spare",
)


def require_resizable(source: Source, elf: ElfFile, index: int) -> ProgramHeader:
    """Return the one segment that holds the section with this index. Raises ElfError if it cannot be resized."""
    section = elf.section_headers[index]
    start, end = section.offset, section.offset + section.size
    _require_known(source, elf, section)
    if section.type != c.SHT_PROGBITS or not section.flags & c.SHF_ALLOC or not section.size:
        raise source.error(section.position, f"{section.name} is not loaded from the file")
    if section.addralign & (section.addralign - 1):
        raise source.error(section.position, f"{section.name} is aligned to {section.addralign}, not to a power of two")
    aligned = [(section.name, section.position, section.addralign)]
    for name, position, align in [*aligned, *(("PT_LOAD", load.position, load.align) for load in elf.loads)]:
        if align > MAX_ALIGNMENT:
            raise source.error(position, f"{name} is aligned to {align:#x} bytes; expected {MAX_ALIGNMENT:#x} at most")
    _require_loadable(source, elf)
    loads = [load for load in elf.loads if load.offset < end and start < load.file_end]
    whole = [load for load in loads if load.offset <= start and end <= load.file_end]
    if len(loads) != 1 or [load.offset + section.addr - load.vaddr for load in whole] != [start]:
        reason = f"no single PT_LOAD segment loads {section.name} at its address {section.addr:#x}"
        raise source.error(section.position, reason)
    require_untorn(source, elf, index, range(start, end))
    for other in elf.program_headers:
        if other is not loads[0] and other.vaddr < section.addr + section.size and section.addr < other.memory_end:
            raise source.error(other.position, f"a segment overlaps {section.name} at {section.addr:#x}")
    return loads[0]


def _require_known(source: Source, elf: ElfFile, section: SectionHeader) -> None:
    """Raise ElfError if some reference to the section may stay unknown, or cannot be changed."""
    if elf.elf_class != 64 or not elf.little_endian or elf.machine not in BY_MACHINE:
        known = " and ".join(cpu.name for cpu in CPUS)
        raise source.error(18, f"only 64-bit little-endian files for {known} are edited")
    addresses = [(entry.position, entry.value) for entry in elf.dynamic if entry.tag in ADDRESS_TAGS]
    for position, address in [*addresses, (24, elf.entry)]:
        if section.addr <= address < section.addr + section.size:
            raise source.error(position, f"{address:#x} is in {section.name}, and not known to be movable")
    if any(other.type in (c.SHT_RELA, c.SHT_REL) and not other.flags & c.SHF_ALLOC for other in elf.section_headers):
        reason = "relocations were kept when it was linked (--emit-relocs): they would be wrong"
        raise source.error(section.position, f"{reason}. Link it without them, or take them out with strip")
    if elf.dynamic_value(c.DT_REL) is not None:
        raise source.error(elf.dynamic[0].position, "relocations without addends (DT_REL) are not known here")
    if elf.dynamic_value(c.DT_SYMTAB) is not None and dynamic_symbol_section(elf) is None:
        raise source.error(elf.dynamic[0].position, "no section tells of the dynamic symbols (DT_SYMTAB)")


def _require_loadable(source: Source, elf: ElfFile) -> None:
    """Raise ElfError if no loader can load the file as its program headers say."""
    if not _are_apart(elf, MIN_PAGE):
        raise source.error(elf.phoff, "PT_LOAD segments are not in order, or share a page")
    for load in elf.loads:
        if load.filesz > load.memsz:
            raise source.error(load.position, "a PT_LOAD segment has more bytes in the file than in memory")
        if (load.offset - load.vaddr) % MIN_PAGE:
            raise source.error(load.position, "a PT_LOAD segment's file offset and address differ within a page")
    # The same byte at two addresses: it could not be at both in the new file, once what is between them changes.
    for before, after in pairwise(sorted((load for load in elf.loads if load.filesz), key=lambda load: load.offset)):
        if after.offset < before.file_end:
            end = min(before.file_end, after.file_end)
            reason = f"PT_LOAD segments overlap in the file: bytes {after.offset:#x} to {end:#x}"
            raise source.error(after.position, f"{reason} belong to {before.vaddr:#x} and to {after.vaddr:#x}")
    own = elf.program_header(c.PT_PHDR)
    if own is not None and own.offset != elf.phoff:
        raise source.error(own.position, f"PT_PHDR tells of {own.offset:#x}, but program headers are at {elf.phoff:#x}")


def require_untorn(source: Source, elf: ElfFile, index: int, offsets: range) -> None:
    """Raise ElfError when anything but the section with this index, and its segment, has bytes on both sides or inside.

    `offsets` is what is taken out of the file; where it is empty, something is inserted there.
    """
    own = elf.section_headers[index]
    tables = [(0, 64, 0), (elf.phoff, elf.phoff + PHDR64.size * len(elf.program_headers), 32)]
    tables += [(elf.shoff, elf.shoff + SHDR64.size * len(elf.section_headers), 40)]
    tables += [(s.offset, s.file_end, s.position) for s in elf.section_headers if s is not own and s.type != c.SHT_NULL]
    tables += [
        (header.offset, header.file_end, header.position)
        for header in elf.program_headers
        if header.type != c.PT_LOAD or not header.offset <= own.offset < header.file_end
    ]
    for start, end, position in tables:
        if (start < offsets.stop and offsets.start < end) or offsets.start < start < offsets.stop:
            raise source.error(position, f"what this tells of overlaps {own.name} at {own.offset:#x}")


def check_resized(old: ElfFile, patch: Patch, file: BinaryIO, index: int, layout: ResizeLayout) -> None:
    """Read the patched file back. Raises ElfError unless it has the same facts as the old one."""
    position = old.section_headers[index].position
    try:
        new = read_elf(open_patched(patch, file), old.path)
    except ElfError as error:
        raise ElfError(old.path, position, f"contradictory file: it would be damaged by the edit: {error}") from error
    same = all(getattr(old, fact) == getattr(new, fact) for fact in _FACTS)
    if not same or [entry.tag for entry in old.dynamic] != [entry.tag for entry in new.dynamic]:
        raise ElfError(old.path, position, "contradictory file: after the edit it would say other things of itself")
    page = page_size(old) if _are_apart(old, page_size(old)) else MIN_PAGE
    if not _are_apart(new, page):
        raise ElfError(old.path, position, "contradictory file: after the edit its segments would share pages")
    for number, (before, after) in enumerate(zip(old.section_headers, new.section_headers, strict=True)):
        if number != index and before.type not in (c.SHT_NULL, c.SHT_NOBITS) and before.size:
            displaced = any(span.holds(before.offset, before.size) for span, _ in layout.behind.spans)
            lost = not displaced and _new_offsets(patch, before) != (after.offset, after.file_end - 1)
            if lost or (_is_loaded(old, before) and not _is_loaded(new, after)):
                raise ElfError(old.path, before.position, f"contradictory file: the edit would lose section {number}")


def _are_apart(elf: ElfFile, page: int) -> bool:
    """Whether PT_LOAD segments are in order and have pages of their own."""
    loads = [load for load in elf.loads if load.memsz]
    return all(a.memory_end <= b.vaddr - b.vaddr % page for a, b in pairwise(loads))


def _new_offsets(patch: Patch, section: SectionHeader) -> tuple[int | None, int | None]:
    """Return the offsets of the first and the last byte of a section in the new file."""
    return patch.new_offset(section.offset), patch.new_offset(section.file_end - 1)


def _is_loaded(elf: ElfFile, section: SectionHeader) -> bool:
    """Whether a section is loaded from where it stands."""
    return bool(section.flags & c.SHF_ALLOC) and elf.offset_of(section.addr, section.size) == section.offset
