"""Finds room for more loaded bytes in a linked file, without moving what is loaded already.

A `Room` is a place for bytes at the end of a PT_LOAD segment, gentlest first:

* `find_slack`: padding that exists both in the file and in the address space behind a segment.
* `grow_last_segment`: behind the last segment of all. Its zero-initialised end (.bss) becomes zero bytes in the file,
  so it has to be small, and what is never loaded moves down. (Its section stays SHT_NOBITS: eu-elflint, strip and gdb
  are content with that, as the bytes are zero; to SHT_PROGBITS, or another name, one or the other objects.) The program
  headers stay where they are and as many as they are, which every kernel, loader, strip and linker can deal with.
* `append_segment`: a segment of its own at the end of the file. Its program header takes the place of the small tables
  that follow the program headers (the interpreter's path, notes, hash table), which move into the new segment. So the
  program headers of a program stay where kernels before Linux 5.18 look for them. Where that cannot be done, the
  program headers of a library move as a whole: its loader, unlike the kernel, always goes by e_phoff.

A program whose headers can neither grow nor move (it has no sections, say) has its last segment grown, whatever the
size of its .bss up to `MOST_ZEROS`.
"""

from dataclasses import dataclass

from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.patch import Strategy
from lib.elf.reader import PHDR64, SHDR64
from lib.elf.source import Source

#: Pages are at least this large, in bytes, whatever p_align says.
MIN_PAGE = 4096
#: How much zero-initialised memory, in bytes, may always become zeros in the file to let the last segment grow, and how
#: much where nothing else serves.
FEW_ZEROS = MIN_PAGE
MOST_ZEROS = 16 << 20
#: Sections that can move because nothing but their own header and one dynamic entry says where they are.
MOVABLE = {c.SHT_GNU_HASH: c.DT_GNU_HASH, c.SHT_HASH: c.DT_HASH, c.SHT_DYNSYM: c.DT_SYMTAB}


@dataclass(frozen=True, slots=True)
class MovedSpan:
    """Bytes of the file that are loaded as they stand: file offset, virtual address, size in bytes."""

    offset: int
    vaddr: int
    size: int

    def holds(self, offset: int, size: int) -> bool:
        """Whether `size` bytes from file offset `offset` on lie in this span."""
        return self.offset <= offset and offset + size <= self.offset + self.size


@dataclass(frozen=True, slots=True)
class Room:
    """A place for bytes at the end of a segment, at virtual address `vaddr` and file offset `offset` of the new file.

    `segment` is the index of the program header of the PT_LOAD that grows, None for a new one. `insert_at` is the
    source offset at which bytes are inserted: `fill` zero bytes (memory of the segment that had none in the file, or
    alignment), then the new ones; what follows moves down. None: the bytes are written over padding.
    `displaced` has to move into the room for a new program header; `headers_move` says that the program headers do.
    """

    strategy: Strategy
    segment: int | None
    offset: int
    vaddr: int
    insert_at: int | None = None
    fill: int = 0
    displaced: tuple[MovedSpan, ...] = ()
    headers_move: bool = False


def find_slack(source: Source, elf: ElfFile, size: int) -> Room | None:
    """Find padding of `size` bytes behind a segment; read-only segments are preferred to writable ones."""
    page = page_size(elf)
    loads = [(index, header) for index, header in enumerate(elf.program_headers) if header.type == c.PT_LOAD]
    for index, load in sorted(loads, key=lambda item: (item[1].flags & c.PF_W, item[1].flags & c.PF_X, item[1].vaddr)):
        if not load.filesz or load.filesz != load.memsz:
            continue
        above = [other.vaddr - other.vaddr % page for other in elf.loads if other.vaddr > load.vaddr]
        memory = min(above) - load.memory_end if above else size
        if min(memory, _file_gap(elf, load.file_end)) < size:
            continue
        if not any(source.read(load.file_end, size, "padding behind a segment")):
            return Room(Strategy.SLACK, index, load.file_end, load.memory_end)
    return None


def _file_gap(elf: ElfFile, end: int) -> int:
    """Count the bytes from file offset `end` on that belong to nothing; 0 if something reaches across `end`."""
    used = [(0, 64), (elf.phoff, _headers_end(elf)), (elf.shoff, _sections_end(elf)), (elf.size, elf.size + 1)]
    used += [(section.offset, section.file_end) for section in elf.section_headers]
    used += [(header.offset, header.file_end) for header in elf.program_headers]
    return max(0, min(start for start, stop in used if stop > end) - end)


def grow_last_segment(elf: ElfFile, *, writable: bool, most_zeros: int) -> Room | None:
    """Find room of any size behind the last PT_LOAD segment (a writable one, if asked), if that can grow.

    `most_zeros` says how many bytes of zero-initialised memory may become bytes of the file.
    """
    last = max(elf.loads, key=lambda load: load.vaddr)
    end, fill = last.file_end, last.memsz - last.filesz
    if not 0 <= fill <= most_zeros or end > elf.size or (writable and not last.flags & c.PF_W):
        return None
    if (last.offset - last.vaddr) % max(last.align, MIN_PAGE):
        return None
    across = [(elf.phoff, _headers_end(elf)), (elf.shoff, _sections_end(elf))]
    across += [(section.offset, section.file_end) for section in elf.section_headers]
    loaded = [(header.offset, header.file_end) for header in elf.program_headers]
    loaded += [(s.offset, s.file_end) for s in elf.section_headers if s.flags & c.SHF_ALLOC]
    if any(start < stop and stop > end for start, stop in loaded) or any(start < end < stop for start, stop in across):
        return None
    if elf.phoff >= end:
        return None
    index = elf.program_headers.index(last)
    return Room(Strategy.LAST_SEGMENT, index, end + fill, last.memory_end, insert_at=end, fill=fill)


def append_segment(elf: ElfFile) -> Room | str:
    """Find room of any size in a new segment at the end of the file, or say why there can be none."""
    offset = -(-elf.size // 16) * 16
    page = page_size(elf)
    top = max(load.memory_end for load in elf.loads)
    vaddr = -(-top // page) * page + offset % page
    if any(load.vaddr % page != load.offset % page for load in elf.loads if load.filesz):
        return "its PT_LOAD segments do not have the same file offset and address within a page"
    if len(elf.program_headers) + 1 >= c.PN_XNUM:
        return f"it has {len(elf.program_headers)} program headers already"
    moving = displaced(elf)
    if moving is None and (elf.is_program or elf.interpreter is not None):
        return "the program headers cannot grow: what follows them is not known to be movable"
    return Room(
        Strategy.NEW_SEGMENT,
        None,
        offset,
        vaddr,
        insert_at=elf.size,
        fill=offset - elf.size,
        displaced=moving or (),
        headers_move=moving is None,
    )


def displaced(elf: ElfFile, count: int = 1) -> tuple[MovedSpan, ...] | None:
    """Find what must move for `count` program headers behind the others; None where that cannot be known or done."""
    start, end = _headers_end(elf), _headers_end(elf) + count * PHDR64.size
    first = min(elf.loads, key=lambda load: load.vaddr)
    if not elf.section_headers or not (first.offset <= elf.phoff and end <= first.file_end):
        return None
    spans = {
        MovedSpan(header.offset, header.vaddr, header.filesz)
        for header in elf.program_headers
        if header.type in (c.PT_INTERP, c.PT_NOTE, c.PT_GNU_PROPERTY)
    }
    spans |= {
        MovedSpan(section.offset, section.addr, section.size)
        for section in elf.section_headers
        if section.type in MOVABLE and section.addr == elf.dynamic_value(MOVABLE[section.type])
    }
    spans = {span for span in spans if span.offset < end and span.offset + span.size > start}
    spans = {
        span for span in spans if not any(span != other and other.holds(span.offset, span.size) for other in spans)
    }
    for section in elf.section_headers:
        inside = section.offset < end and section.file_end > start
        if inside and not any(span.holds(section.offset, section.size) for span in spans):
            return None
    if any(elf.offset_of(span.vaddr, span.size) != span.offset for span in spans):
        return None
    if any(a != b and a.offset < b.offset + b.size and b.offset < a.offset + a.size for a in spans for b in spans):
        return None
    return tuple(sorted(spans, key=lambda span: span.offset))


def tail_alignment(elf: ElfFile, end: int) -> int:
    """Return the alignment in bytes that what lies behind file offset `end` wants (section headers: 8)."""
    aligns = {s.addralign for s in elf.section_headers if s.offset >= end and not s.flags & c.SHF_ALLOC}
    return max({8} | {align for align in aligns if align & (align - 1) == 0 and align <= MIN_PAGE})


def page_size(elf: ElfFile) -> int:
    """Return the largest page, in bytes, that the file was linked for."""
    return max({MIN_PAGE} | {load.align for load in elf.loads if load.align & (load.align - 1) == 0})


def _headers_end(elf: ElfFile) -> int:
    return elf.phoff + PHDR64.size * len(elf.program_headers)


def _sections_end(elf: ElfFile) -> int:
    return elf.shoff + SHDR64.size * len(elf.section_headers)
