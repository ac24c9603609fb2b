"""Writes down everything that changes in a file when its string table or its dynamic section moves.

What names a moved table must follow it: dynamic entries, program headers, section headers, symbols, and the first word
of the global offset table. What lies behind inserted bytes moves down: section headers and whatever is never loaded.
The old tables stay where they were, unused: code that finds them at a fixed distance (a static PIE, the loader itself)
still finds what it was linked for.
"""

from dataclasses import dataclass, replace
from struct import Struct
from typing import Final

from lib.elf import constants as c
from lib.elf.dynamic_edit import StringTable
from lib.elf.dynamic_symbols import moved_symbols
from lib.elf.free_space import MOVABLE, MovedSpan, Room, page_size, tail_alignment
from lib.elf.model import ElfFile, ProgramHeader, SectionHeader
from lib.elf.patch import PatchBuilder
from lib.elf.reader import DYN64, PHDR64
from lib.elf.source import Source

#: DT_NULL entries that a moved dynamic section gets behind its end, for later edits.
SPARE_ENTRIES: Final = 4
E_PHOFF: Final = 0x20
E_SHOFF: Final = 0x28
E_PHNUM: Final = 0x38
_U16: Final = Struct("<H")
_U64: Final = Struct("<Q")
_ADDRESS_OFFSET_SIZE: Final = Struct("<QQQ")
#: Addresses are 64-bit words; what a file says of its physical addresses and unloaded sections may wrap around.
WORD: Final = 1 << 64
Entries = list[tuple[int, int]]


def write_dynamic(builder: PatchBuilder, source: Source, elf: ElfFile, entries: Entries) -> None:
    """Overwrite the dynamic section where it is, entry by entry and only those that differ."""
    start = elf.dynamic[0].position
    count = len(elf.dynamic) + 1 + elf.dynamic_spare
    wanted = entries + [(c.DT_NULL, 0)] * max(1, len(elf.dynamic) - len(entries) + 1)
    old = source.unpack_all(DYN64, start, count * DYN64.size, "the dynamic section")
    for index, (before, after) in enumerate(zip(old, wanted, strict=False)):
        if before != after:
            builder.overwrite(start + index * DYN64.size, DYN64.pack(*after))


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of added bytes: virtual address, file offset in the new file, size in bytes."""

    vaddr: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Displacement:
    """Changes that follow when the bytes of a `MovedSpan` move: headers by their index, dynamic values by their tag."""

    programs: dict[int, ProgramHeader]
    sections: dict[int, SectionHeader]
    dynamic: dict[int, int]
    notes: tuple[str, ...]


def displace(elf: ElfFile, span: MovedSpan, offset: int, vaddr: int) -> Displacement:
    """Find what changes when a span (see `layout.displaced`) moves to this file offset and virtual address."""
    down, up = offset - span.offset, vaddr - span.vaddr
    programs = {
        index: shifted(header, down, up)
        for index, header in enumerate(elf.program_headers)
        if header.type in (c.PT_INTERP, c.PT_NOTE, c.PT_GNU_PROPERTY) and span.holds(header.offset, header.filesz)
    }
    sections = {
        index: replace(section, addr=section.addr + up, offset=section.offset + down)
        for index, section in enumerate(elf.section_headers)
        if section.flags & c.SHF_ALLOC and section.size and span.holds(section.offset, section.size)
    }
    has_build_id = any(note.type == c.NT_GNU_BUILD_ID and span.holds(note.offset, note.size) for note in elf.notes)
    notes = ("the build ID moved out of the first page: core dumps may lack it",) if has_build_id else ()
    dynamic = {tag: vaddr for tag in MOVABLE.values() if elf.dynamic_value(tag) == span.vaddr}
    return Displacement(programs, sections, dynamic, notes)


class Mover:
    """Moves tables of one file into a `Room`, writing the changes to `builder`."""

    def __init__(self, elf: ElfFile, source: Source, builder: PatchBuilder, room: Room) -> None:
        self.elf = elf
        self.source = source
        self.builder = builder
        self.room = room
        self.notes: list[str] = []
        # llvm-objcopy takes of two segments at one offset the first for the outer one: no note or dynamic section may
        # begin where a new PT_LOAD, which comes last, does.
        self._payload = bytearray(16 if room.segment is None else 0)
        self._programs = list(elf.program_headers)
        self._sections = list(elf.section_headers)

    def move(self, entries: Entries, strings: StringTable | None, appended: bytes, *, dynamic_moves: bool) -> None:
        """Move the string table `strings` (with `appended` behind it) unless None, and the dynamic section if wished.

        `entries` are the entries of the new dynamic section. `notes` then says what the move costs.
        """
        values: dict[int, int] = {}
        for span in self.room.displaced:
            values |= self._displace(span)
        at_dynamic = self._move_dynamic(len(entries)) if dynamic_moves else 0
        if strings is not None:
            place = self._add(strings.data + appended, align=1)
            values |= {c.DT_STRTAB: place.vaddr, c.DT_STRSZ: place.size}
            if strings.section is not None:
                self._place_section(strings.section, place)
        entries = [(tag, values.get(tag, value)) for tag, value in entries]
        if dynamic_moves:
            data = b"".join(DYN64.pack(*entry) for entry in entries)
            self._payload[at_dynamic : at_dynamic + len(data)] = data
        else:
            write_dynamic(self.builder, self.source, self.elf, entries)
        self._write_programs()
        self._write_payload()
        self._write_sections()
        self._write_symbols()

    def _add(self, data: bytes, align: int = 16) -> _Place:
        """Put `data` into the room, at a virtual address that is a multiple of `align`."""
        self._payload += bytes(-(self.room.vaddr + len(self._payload)) % align)
        at = len(self._payload)
        self._payload += data
        return _Place(self.room.vaddr + at, self.room.offset + at, len(data))

    def _place_section(self, index: int, place: _Place) -> None:
        self._sections[index] = replace(self._sections[index], addr=place.vaddr, offset=place.offset, size=place.size)

    def _displace(self, span: MovedSpan) -> dict[int, int]:
        """Move what is in the way of a new program header; returns the dynamic entries that change by it."""
        place = self._add(self.source.read(span.offset, span.size, "what follows the program headers"))
        displacement = displace(self.elf, span, place.offset, place.vaddr)
        for index, header in displacement.programs.items():
            self._programs[index] = header
        for number, section in displacement.sections.items():
            self._sections[number] = section
        self.notes += displacement.notes
        return displacement.dynamic

    def _move_dynamic(self, entries: int) -> int:
        """Make place for the dynamic section and let PT_DYNAMIC and the global offset table tell of it.

        Returns the offset of its bytes in the room.
        """
        index = next(at for at, header in enumerate(self._programs) if header.type == c.PT_DYNAMIC)
        header = self._programs[index]
        place = self._add(bytes((entries + 1 + SPARE_ENTRIES) * DYN64.size))
        moved = shifted(header, place.offset - header.offset, place.vaddr - header.vaddr)
        self._programs[index] = replace(moved, filesz=place.size, memsz=place.size)
        for at, section in enumerate(self.elf.section_headers):
            if section.type == c.SHT_DYNAMIC and section.addr == header.vaddr:
                self._place_section(at, place)
        words = {s.addr for s in self.elf.section_headers if s.name in (".got", ".got.plt")}
        for address in sorted(words | {self.elf.dynamic_value(c.DT_PLTGOT) or 0}):
            offset = self.elf.offset_of(address, _U64.size) if address else None
            if offset and self.source.unpack(_U64, offset, "the global offset table") == (header.vaddr,):
                self.builder.overwrite(offset, _U64.pack(place.vaddr))
        relro = self.elf.program_header(c.PT_GNU_RELRO)
        if relro and relro.vaddr <= header.vaddr < relro.memory_end and place.vaddr >= relro.memory_end:
            self.notes.append("the dynamic section moved out of PT_GNU_RELRO: it stays writable after relocation")
        return place.offset - self.room.offset

    def _write_programs(self) -> None:
        """Let the program headers tell of the room; this may add to it, and so comes behind all else that does."""
        table = b""
        if self.room.headers_move:
            place = self._add(bytes(PHDR64.size * (len(self._programs) + 1)))
            self._programs.append(self._new_segment(at=place.offset + place.size - PHDR64.size))
            for index, header in enumerate(self._programs):
                if header.type == c.PT_PHDR:
                    moved = shifted(header, place.offset - header.offset, place.vaddr - header.vaddr)
                    self._programs[index] = replace(moved, filesz=place.size, memsz=place.size)
            table = b"".join(map(pack_program, self._programs))
            self._payload[place.offset - self.room.offset :] = table
            self.builder.overwrite(E_PHOFF, _U64.pack(place.offset))
        elif self.room.segment is None:
            size = PHDR64.size * (len(self._programs) + 1)
            self._programs.append(self._new_segment(at=self.elf.phoff + size - PHDR64.size))
            for index, header in enumerate(self._programs):
                if header.type == c.PT_PHDR:
                    self._programs[index] = replace(header, filesz=size, memsz=size)
        else:
            segment = self._programs[self.room.segment]
            size = self.room.offset - segment.offset + len(self._payload)
            self._programs[self.room.segment] = replace(segment, filesz=size, memsz=size)
        if len(self._programs) > len(self.elf.program_headers):
            self.builder.overwrite(E_PHNUM, _U16.pack(len(self._programs)))
        for index, header in enumerate(self._programs):
            if not table and header not in self.elf.program_headers[index : index + 1]:
                self.builder.overwrite(header.position, pack_program(header))

    def _new_segment(self, at: int) -> ProgramHeader:
        """Make the program header of an appended segment, itself at file offset `at`."""
        dynamic = next(header for header in self._programs if header.type == c.PT_DYNAMIC)
        flags = c.PF_R | (dynamic.flags & c.PF_W if dynamic.vaddr >= self.room.vaddr else 0)
        room, size = self.room, len(self._payload)
        return ProgramHeader(at, c.PT_LOAD, flags, room.offset, room.vaddr, room.vaddr, size, size, page_size(self.elf))

    def _write_payload(self) -> None:
        if self.room.insert_at is None:
            self.builder.overwrite(self.room.offset, bytes(self._payload))
        else:
            inserted = bytes(self.room.fill) + self._payload
            self.builder.insert(self.room.insert_at, inserted.ljust(self._shift(), b"\0"))

    def _shift(self) -> int:
        """Return how far down the file everything behind the insertion moves, in bytes."""
        if self.room.insert_at is None:
            return 0
        size = self.room.fill + len(self._payload)
        return size + -size % tail_alignment(self.elf, self.room.insert_at)

    def _write_sections(self) -> None:
        insert_at, shift = self.room.insert_at, self._shift()
        if insert_at is not None and self.elf.shoff >= insert_at:
            self.builder.overwrite(E_SHOFF, _U64.pack(self.elf.shoff + shift))
        for old, new in zip(self.elf.section_headers, self._sections, strict=True):
            loaded = old.flags & c.SHF_ALLOC or old.type == c.SHT_NULL
            if insert_at is not None and not loaded and old.offset >= insert_at:
                new = replace(old, offset=(old.offset + shift) % WORD)
            if old != new:
                place = _ADDRESS_OFFSET_SIZE.pack(new.addr % WORD, new.offset, new.size)
                self.builder.overwrite(old.position + 16, place)

    def _write_symbols(self) -> None:
        """Let the symbols of moved sections (`_DYNAMIC`, section symbols) follow them."""
        pairs = zip(self.elf.section_headers, self._sections, strict=True)
        moved = {index: new.addr - old.addr for index, (old, new) in enumerate(pairs) if new.addr != old.addr}
        tables = [index for index in moved if self.elf.section_headers[index].type == c.SHT_DYNSYM]
        for position, value in moved_symbols(self.source, self.elf, moved, skip=tables):
            self.builder.overwrite(position, _U64.pack(value))


def shifted(header: ProgramHeader, down: int, up: int) -> ProgramHeader:
    """Return the header of a segment moved `down` the file and `up` the address space, in bytes."""
    return replace(header, offset=header.offset + down, vaddr=header.vaddr + up, paddr=(header.paddr + up) % WORD)


def pack_program(header: ProgramHeader) -> bytes:
    """Give a program header the form that it has in the file."""
    fields = (header.offset, header.vaddr, header.paddr, header.filesz, header.memsz, header.align)
    return PHDR64.pack(header.type, header.flags, *fields)
