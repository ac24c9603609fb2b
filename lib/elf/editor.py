"""Plans the edit of one ELF file: from its facts, and the search path and needed libraries it shall have, to a patch.

    with open(path, "rb") as file:
        elf = read_elf(file, path)
        patch = plan_patch(elf, file, DynamicEdit(("$ORIGIN",)))
        for chunk in patch.chunks(file): ...

The gentlest strategy that serves is taken: overwrite in place what is proven to be used by nothing else; move the
string table into the padding of a segment; grow the last segment; append one. A file grows by the tables that move and
by less than two pages: a large .bss does not become bytes of it. Only headers and tables are read, at any file size. A
patch is checked before it is handed out: the new file is read through it, and must say what was asked for.
"""

from struct import Struct
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.dynamic_edit import DynamicEdit, Placement, Slot, StringTable, unchanged
from lib.elf.free_space import FEW_ZEROS, MOST_ZEROS, Room, append_segment, find_slack, grow_last_segment
from lib.elf.model import ElfFile, refusal
from lib.elf.moves import Mover, write_dynamic
from lib.elf.patch import Patch, PatchBuilder, Strategy
from lib.elf.patched import open_patched
from lib.elf.reader import read_elf
from lib.elf.source import ElfError, Source
from lib.elf.versions import verneed_entries

#: Where in an Elf64_Verneed vn_file is, in bytes.
VN_FILE: Final = 4
U32: Final = Struct("<I")


def plan_patch(elf: ElfFile, file: BinaryIO, edit: DynamicEdit) -> Patch:
    """Plan the patch that gives a search path, or more, to the file that `elf` was read from, open in `file`.

    What the file has already gives the identity patch. Raises ElfError for a file that is not edited (see
    `refusal`), whose tables are damaged, or that no strategy serves.
    """
    reason = refusal(elf)
    if reason is not None:
        raise ElfError(elf.path, 0, reason)
    slots = edit.slots(elf)
    if unchanged(slots, elf.dynamic):
        return PatchBuilder(elf.path, elf.size).build(Strategy.IDENTITY)
    patch = _Planner(elf, Source(file, elf.path), slots, edit).plan()
    position = elf.dynamic[0].position
    try:
        new = read_elf(open_patched(patch, file), elf.path)
        again = edit.slots(new)
    except ElfError as error:
        raise ElfError(elf.path, position, f"contradictory file: it would be damaged by the edit: {error}") from error
    if not _as_wished(elf, new, edit) or not unchanged(again, new.dynamic):
        raise ElfError(elf.path, position, "contradictory file: after the edit its strings would not be as wished")
    return patch


def _as_wished(old: ElfFile, new: ElfFile, edit: DynamicEdit) -> bool:
    """Whether needed libraries are as the edit says, and everything else except the search path is unchanged."""
    same = ("interpreter", "build_id", "type", "entry", "soname", "versions_defined")
    versions = {name: sorted(versions) for name, versions in new.versions_needed.items()}
    return (
        all(getattr(new, name) == getattr(old, name) for name in same)
        and new.needed == edit.needed_after(old)
        and versions == edit.versions_after(old)
    )


class _Planner:
    """One edit in the making: chooses the strategy and writes down the changes."""

    def __init__(self, elf: ElfFile, source: Source, slots: list[Slot], edit: DynamicEdit) -> None:
        self.elf = elf
        self.source = source
        self.slots = slots
        self.needed = {old: new for old, new in edit.needed.items() if old in elf.needed}
        self.builder = PatchBuilder(elf.path, elf.size)

    def plan(self) -> Patch:
        texts = list(dict.fromkeys(slot.text for slot in self.slots if slot.text is not None))
        dynamic_moves = len(self.slots) > len(self.elf.dynamic) + self.elf.dynamic_spare
        table = StringTable(self.source, self.elf) if texts else None
        files = self._renamed_files(table) if table else {}
        released = {old for old, _ in files.values()}
        placement = table.place_in_place(texts, self.slots, released) if table else Placement({})
        grown = table if placement is None else None
        if table and placement is None:
            placement = table.place_at_end(texts)
        assert placement is not None
        entries = [(slot.tag, slot.value if slot.text is None else placement.offsets[slot.text]) for slot in self.slots]
        strategy = Strategy.IN_PLACE
        notes: list[str] = []
        if grown or dynamic_moves:
            room = self._find_room(len(grown.data) + len(placement.appended) if grown else 0, dynamic_moves)
            mover = Mover(self.elf, self.source, self.builder, room)
            mover.move(entries, grown, placement.appended, dynamic_moves=dynamic_moves)
            strategy, notes = room.strategy, mover.notes
            if room.fill > FEW_ZEROS:
                notes.append(f"{room.fill} bytes of zero-initialised memory became zeros in the file")
        else:
            write_dynamic(self.builder, self.source, self.elf, entries)
        if table:
            for at, data in placement.overwrites:
                self.builder.overwrite(table.offset + at, data)
        for at, (_, new) in files.items():
            self.builder.overwrite(at + VN_FILE, U32.pack(placement.offsets[new]))
        return self.builder.build(strategy, tuple(notes))

    def _renamed_files(self, table: StringTable) -> dict[int, tuple[int, str]]:
        """Find the version requirements of renamed libraries, by file offset: the old vn_file, and the new name."""
        if not self.needed:
            return {}
        named = {at: (file, table.text(file)) for at, file, _ in verneed_entries(self.source, self.elf)}
        return {at: (file, self.needed[name]) for at, (file, name) in named.items() if name in self.needed}

    def _find_room(self, size: int, dynamic_moves: bool) -> Room:
        """Find the gentlest place for a string table of `size` bytes (0: it stays) and a dynamic section that moves."""
        slack = None if dynamic_moves else find_slack(self.source, self.elf, size)
        dynamic = self.elf.program_header(c.PT_DYNAMIC)
        writable = dynamic_moves and dynamic is not None and bool(dynamic.flags & c.PF_W)
        new = append_segment(self.elf)
        # Zeros may be as many as the bytes that move for a new segment's header: then they are the cheaper choice.
        most_zeros = MOST_ZEROS if isinstance(new, str) else max(FEW_ZEROS, sum(span.size for span in new.displaced))
        room = slack or grow_last_segment(self.elf, writable=writable, most_zeros=most_zeros) or new
        if not isinstance(room, str):
            return room
        reason = f"no place for a larger string table or dynamic section: {room}"
        raise ElfError(self.elf.path, self.elf.phoff, reason)
