"""Plans the edit of one ELF file: from its facts and the search path it shall have to a patch.

    with open(path, "rb") as file:
        elf = read_elf(file, path)
        patch = plan_patch(elf, file, SearchPath(("$ORIGIN",)))
        for chunk in patch.chunks(file): ...

The gentlest strategy that serves is taken: overwrite in place what is proven to be used by nothing else; move the
string table into the padding of a segment; grow the last segment; append one. Only headers and tables are read, at any
file size. A patch is checked before it is handed out: the new file is read through it, and must say what was asked for.
"""

from typing import BinaryIO

from tools.lib.elf import constants as c
from tools.lib.elf.layout import Room, append_segment, find_slack, grow_last_segment
from tools.lib.elf.model import ElfFile, refusal
from tools.lib.elf.moves import Mover, write_dynamic
from tools.lib.elf.patch import Patch, PatchBuilder, Strategy
from tools.lib.elf.patched import open_patched
from tools.lib.elf.reader import read_elf
from tools.lib.elf.search_path import SearchPath, Slot, unchanged
from tools.lib.elf.source import ElfError, Source
from tools.lib.elf.strings import Placement, StringTable


def plan_patch(elf: ElfFile, file: BinaryIO, path: SearchPath) -> Patch:
    """Plan the patch that gives this search path to the file that `elf` was read from, open in `file`.

    A path that the file has already gives the identity patch. Raises ElfError for a file that is not edited (see
    `refusal`), one whose tables are damaged, and one that no strategy serves.
    """
    reason = refusal(elf)
    if reason is not None:
        raise ElfError(elf.path, 0, reason)
    slots = path.slots(elf)
    if unchanged(slots, elf.dynamic):
        return PatchBuilder(elf.path, elf.size).build(Strategy.IDENTITY)
    patch = _Planner(elf, Source(file, elf.path), slots).plan()
    position = elf.dynamic[0].position
    try:
        new = read_elf(open_patched(patch, file), elf.path)
        wanted = path.slots(new)
    except ElfError as error:
        raise ElfError(elf.path, position, f"contradictory file: it would be damaged by the edit: {error}") from error
    if not _same_otherwise(elf, new) or not unchanged(wanted, new.dynamic):
        raise ElfError(elf.path, position, "contradictory file: after the edit its strings would not be as wished")
    return patch


def _same_otherwise(old: ElfFile, new: ElfFile) -> bool:
    """Whether everything but the search path is as before."""
    same = ("interpreter", "build_id", "type", "entry", "soname", "needed", "versions_needed", "versions_defined")
    return all(getattr(new, name) == getattr(old, name) for name in same)


class _Planner:
    """One edit in the making: chooses the strategy and writes down the changes."""

    def __init__(self, elf: ElfFile, source: Source, slots: list[Slot]) -> None:
        self.elf = elf
        self.source = source
        self.slots = slots
        self.builder = PatchBuilder(elf.path, elf.size)

    def plan(self) -> Patch:
        texts = [slot.text for slot in self.slots if slot.text is not None]
        dynamic_moves = len(self.slots) > len(self.elf.dynamic) + self.elf.dynamic_spare
        table = StringTable(self.source, self.elf) if texts else None
        placement = table.place_in_place(texts, self.slots) if table else Placement({})
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
        else:
            write_dynamic(self.builder, self.source, self.elf, entries)
        if table:
            for at, data in placement.overwrites:
                self.builder.overwrite(table.offset + at, data)
        return self.builder.build(strategy, tuple(notes))

    def _find_room(self, size: int, dynamic_moves: bool) -> Room:
        """Find the gentlest place for a string table of `size` bytes (0: it stays) and a dynamic section that moves."""
        slack = None if dynamic_moves else find_slack(self.source, self.elf, size)
        dynamic = self.elf.program_header(c.PT_DYNAMIC)
        writable = dynamic_moves and dynamic is not None and bool(dynamic.flags & c.PF_W)
        room = slack or grow_last_segment(self.elf, writable=writable) or append_segment(self.elf)
        if isinstance(room, str):
            reason = f"no place for a larger string table or dynamic section: {room}"
            raise ElfError(self.elf.path, self.elf.phoff, reason)
        return room
