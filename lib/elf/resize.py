"""Gives one section of a linked file content of another size, while the addresses of all else stay.

    content = NewContent(index, pieces, moved={0: 0, 0x5000: 0x1000})
    patch = plan_resize(elf, file, content)

For sections of data that nothing reaches but by addresses which the file tells of: relocations, symbols, and words that
the caller knows. `lib.elf.resize_layout` says where everything goes. Only headers and tables are read. A patch is
checked before it is handed out: through it, the new file is read, and must say what the old one says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from struct import Struct
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.dynamic_symbols import moved_symbols, section_symbols
from lib.elf.free_space import MovedSpan
from lib.elf.model import ElfFile, ProgramHeader
from lib.elf.moves import E_PHNUM, E_PHOFF, E_SHOFF, WORD, displace, pack_program, write_dynamic
from lib.elf.patch import Literal, Made, Patch, PatchBuilder, Piece, SourceRange, Strategy
from lib.elf.reader import PHDR64
from lib.elf.references import Reference, references
from lib.elf.resize_layout import ResizeLayout, check_resized, find_resize_layout, require_resizable, require_untorn
from lib.elf.source import Source

_U16: Final = Struct("<H")
_U64: Final = Struct("<Q")
_ADDRESS_OFFSET_SIZE: Final = Struct("<QQQ")
#: Where in an Elf64_Sym the value is, and behind it the size, in bytes.
_VALUE: Final = 8
_VALUE_SIZE: Final = Struct("<QQ")


@dataclass(frozen=True)
class NewContent:
    """New content of the section with index `section`.

    `pieces` stand for all its bytes, in order. `moved` has the places that may be pointed to: distances from the
    beginning of the section, and what they become. `words` are file offsets of words of eight bytes that hold an
    address in the section, or may do so, and that no relocation tells of.
    """

    section: int
    pieces: tuple[Piece, ...]
    moved: Mapping[int, int]
    words: Sequence[int] = ()

    @property
    def size(self) -> int:
        """Size of the new section, in bytes."""
        return sum(piece.size for piece in self.pieces)


def plan_resize(elf: ElfFile, file: BinaryIO, content: NewContent) -> Patch:
    """Plan the patch that brings `content` into the file that `elf` was read from, open in `file`.

    Raises ElfError for a file that is damaged, whose section cannot be resized, or in which something leads into the
    section that is not in `moved`.
    """
    source = Source(file, elf.path)
    load = require_resizable(source, elf, content.section)
    layout = find_resize_layout(elf, elf.section_headers[content.section], load, content.size)
    require_untorn(source, elf, content.section, range(layout.start, layout.end))
    patch = _Resizer(elf, source, content, layout).plan()
    check_resized(elf, patch, file, content.section, layout)
    return patch


class _Resizer:
    """One patch in the making."""

    def __init__(self, elf: ElfFile, source: Source, content: NewContent, layout: ResizeLayout) -> None:
        self.elf = elf
        self.source = source
        self.content = content
        self.layout = layout
        self.section = elf.section_headers[content.section]
        self.builder = PatchBuilder(elf.path, elf.size)
        spans = [(span, layout.offset + way, layout.address + way) for span, way in layout.behind.spans]
        self.copies = [(span, bytearray(self._read(span))) for span, *_ in spans]
        self.displaced = [displace(elf, *place) for place in spans]

    def _read(self, span: MovedSpan) -> bytes:
        return self.source.read(span.offset, span.size, "what follows the program headers")

    def plan(self) -> Patch:
        table = self._write_programs()
        self._write_sections()
        if self.elf.dynamic:
            new = {tag: value for one in self.displaced for tag, value in one.dynamic.items()}
            entries = [(entry.tag, new.get(entry.tag, entry.value)) for entry in self.elf.dynamic]
            write_dynamic(self.builder, self.source, self.elf, entries)
        self._write_references()
        self._write_symbols()
        self._write_content()
        self._write_behind(table)
        return self.builder.build(Strategy.RESIZED, tuple(note for one in self.displaced for note in one.notes))

    def _new_offset(self, offset: int) -> int:
        return offset + self.layout.shift if offset >= self.layout.end else offset

    def _write(self, position: int, data: bytes) -> None:
        """Overwrite bytes of the source; where they move, in the copy."""
        for span, copy in self.copies:
            if span.holds(position, len(data)):
                copy[position - span.offset : position - span.offset + len(data)] = data
                return
        if position < self.section.offset + self.section.size and self.section.offset < position + len(data):
            raise self.source.error(position, f"something in {self.section.name} would have to change with it")
        self.builder.overwrite(position, data)

    def _write_programs(self) -> bytes:
        """Write the program headers, with those that tell of themselves; returns the table that they make."""
        moved = {
            self.elf.program_headers[at].position: new for one in self.displaced for at, new in one.programs.items()
        }
        programs = [moved.get(header.position, header) for header in self.layout.programs]
        at, size = self.layout.behind.headers, len(programs) * PHDR64.size
        for index, header in enumerate(programs):
            if header.type == c.PT_PHDR:
                place = header if at is None else self._header_at(header, at)
                programs[index] = replace(place, filesz=size, memsz=size)
        table = b"".join(map(pack_program, programs))
        if at is not None:
            self.builder.overwrite(E_PHOFF, _U64.pack(self.layout.offset + at))
        elif tuple(programs) != self.elf.program_headers:
            self.builder.overwrite(self.elf.phoff, table)
        if len(programs) != len(self.elf.program_headers):
            self.builder.overwrite(E_PHNUM, _U16.pack(len(programs)))
        return table

    def _header_at(self, header: ProgramHeader, way: int) -> ProgramHeader:
        address = self.layout.address + way
        return replace(header, offset=self.layout.offset + way, vaddr=address, paddr=address)

    def _write_sections(self) -> None:
        """Let the section headers tell of the new places, and the symbols of displaced sections follow."""
        old = self.elf.section_headers
        moved = {index: section for one in self.displaced for index, section in one.sections.items()}
        layout = self.layout
        moved[self.content.section] = replace(self.section, addr=layout.address, offset=layout.offset, size=layout.size)
        for index, section in enumerate(old):
            new = moved.get(index, replace(section, offset=self._new_offset(section.offset) % WORD))
            if index and new != section:
                self._write(section.position + 16, _ADDRESS_OFFSET_SIZE.pack(new.addr % WORD, new.offset, new.size))
        if self.layout.shift and self.elf.shoff >= self.layout.end:
            self.builder.overwrite(E_SHOFF, _U64.pack(self._new_offset(self.elf.shoff)))
        del moved[self.content.section]
        distances = {index: section.addr - old[index].addr for index, section in moved.items()}
        for position, value in moved_symbols(self.source, self.elf, distances):
            self._write(position, _U64.pack(value))

    def _write_references(self) -> None:
        """Let all that leads into the section lead to the new places."""
        found = list(references(self.source, self.elf, self.content.section))
        known = {reference.position for reference in found}
        for position in sorted(set(self.content.words) - known):
            (address,) = self.source.unpack(_U64, position, "a pointer")
            found.append(Reference(position, address))
        for reference in found:
            base, position = reference.base, reference.position
            address = self._new_address(reference.address, position)
            new_base = self._new_address(base, position) if reference.base_moves else base
            if address - new_base != reference.address - base:
                self._write(position, _U64.pack((address - new_base) % WORD))

    def _write_symbols(self) -> None:
        """Let the symbols of the section follow, with their sizes."""
        for position, value, size in section_symbols(self.source, self.elf, self.content.section):
            new = self._new_address(value, position)
            new_size = self._new_address(value + size, position) - new if size else 0
            if (new, new_size) != (value, size):
                self._write(position + _VALUE, _VALUE_SIZE.pack(new, new_size % WORD))

    def _new_address(self, address: int, position: int) -> int:
        """Return what an address becomes that the word at file offset `position` has, or leads to."""
        way = address - self.section.addr
        if way == self.section.size:
            return self.layout.address + self.layout.size
        if not 0 <= way < self.section.size:
            return address
        if way not in self.content.moved:
            reason = f"{address:#x} is pointed to, inside of {self.section.name}, where nothing of it begins"
            raise self.source.error(position, reason)
        return self.layout.address + self.content.moved[way]

    def _write_content(self) -> None:
        """Put the new bytes instead of the old ones, or zeros where the section moves and its segment stays whole."""
        start, at = self.layout.start, self.section.offset
        self.builder.insert(start, bytes(self.layout.lead))
        for piece in self.content.pieces:
            if start != self.section.offset:
                self.builder.put(start, self._apart(piece))
            elif not isinstance(piece, SourceRange):
                self.builder.put(at, piece)
            at += piece.replaces
        if start != self.section.offset:
            self.builder.overwrite(self.section.offset, bytes(self.section.size))

    def _apart(self, piece: Piece) -> Literal | Made:
        """Return a piece that stands for no bytes of the source. The section is smaller than a page, and so is it."""
        if isinstance(piece, SourceRange):
            return Literal(self.source.read(piece.offset, piece.size, self.section.name))
        return replace(piece, replaces=0)

    def _write_behind(self, table: bytes) -> None:
        """Put behind the section what makes room for program headers, or these, and zeros up to what follows."""
        layout, size = self.layout, self.content.size
        behind = bytearray(layout.behind.end - size)
        for (_, way), (_, copy) in zip(layout.behind.spans, self.copies, strict=True):
            behind[way - size : way - size + len(copy)] = copy
        if layout.behind.headers is not None:
            behind[layout.behind.headers - size :] = table
        self.builder.insert(layout.end, bytes(behind) + bytes(layout.fill))
