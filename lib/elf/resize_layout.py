"""Where everything goes when a section in the middle of a segment gets content of another size.

All other addresses stay as they are: code and tables are full of distances between them. So a section that shrinks
leaves a hole in the address space, and its segment is split: what is in front of the hole, the section included, and
what is behind it. In the file there is no hole: what is behind the section moves by whole pages, because a segment's
offset and address agree within a page. A section that grows moves to the end of the address space, into a segment of
its own; the hole is where it was.

A split takes another program header. As in `lib.elf.free_space`, what follows the program headers makes room for
it: here it moves behind the section, whose segment has pages of its own.
"""

from dataclasses import dataclass, replace

from lib.elf import constants as c
from lib.elf.free_space import MovedSpan, displaced, page_size
from lib.elf.model import ElfFile, ProgramHeader, SectionHeader
from lib.elf.reader import MAX_ADDRESS, PHDR64
from lib.elf.source import ElfError

_ALIGN = 16


@dataclass(frozen=True, slots=True)
class Behind:
    """What comes behind the section, each at its distance from the section's beginning, and where all of it ends."""

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
        """How many zeros come last, so that what follows moves by whole pages."""
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
