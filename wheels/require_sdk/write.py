"""Writes the planned wheel: edited files are packed anew, all else is copied as it was deflated."""

from pathlib import Path
from typing import Final

from lib.common.program import ToolError, usable_cores
from lib.elf.dynamic_edit import DynamicEdit, SearchPath
from lib.elf.editor import plan_patch
from lib.elf.patched import write_patched
from lib.elf.reader import read_elf
from lib.elf.source import ElfError
from lib.pack.packed_tree import packed_run
from lib.pack.packer import Work, pack_unit
from lib.pack.segment import LEVELS
from lib.plan.edits import Edit, Edits
from lib.wheel.deflated_run import join
from lib.wheel.wheel_writer import WheelMember, Written, text_member, write_wheel
from lib.wheel.zip_members import STORED
from wheels.common.copying import copied_member, file_mode, inflate, inflated_size, space_for
from wheels.common.sound_wheel import SoundWheel
from wheels.require_sdk.plan import MADE, FileEdit, RequiringWheel

#: More threads would wait for the disk.
MAX_THREADS: Final = 8


def space_for_wheel(plan: RequiringWheel) -> int:
    """Return about how many bytes it takes on the disk to write the wheel."""
    edited, wheel, kept = {edit.source: edit for edit in plan.edits}, plan.wheel, _kept(plan)
    packed = {source: 1.0 for source in kept if _is_packed(wheel, source, edited.get(source))}
    return space_for(wheel, (source for source in kept if source not in packed), packed) + inflated_size(wheel, packed)


def _kept(plan: RequiringWheel) -> list[str]:
    """Return the files that the new wheel has as well, as the old one calls them."""
    wheel = plan.wheel
    gone = {copy.path for copy in plan.left_out} | {f"{wheel.name.dist_info}/{name}" for name in MADE}
    return [source for source in wheel.wheel.files if not {source, wheel.wheel.installed(source)} & gone]


def _is_packed(wheel: SoundWheel, source: str, edit: FileEdit | None) -> bool:
    """Whether a file cannot be copied: it is edited, or the old wheel does not deflate it."""
    return edit is not None or wheel.members[source].method == STORED


class Writer:
    """Writes one wheel; `level` is a key of LEVELS, `scratch` a directory for files that are packed."""

    def __init__(self, plan: RequiringWheel, scratch: Path, level: str) -> None:
        self._plan = plan
        self._scratch = scratch
        self._level = level
        self._count = 0
        self.notes: dict[str, tuple[str, ...]] = {}
        """By file what an edit gave up."""

    def write(self, path: Path) -> Written:
        """Write the wheel. Raises ToolError for a file that cannot be edited, and if the old wheel was changed."""
        plan, wheel = self._plan, self._plan.wheel
        edits = {edit.source: edit for edit in plan.edits}
        try:
            members = [self._member(source, edits.get(source)) for source in _kept(plan)]
            members.append(text_member(f"{plan.name.dist_info}/METADATA", plan.metadata.encode()))
            members += [text_member(place, content) for place, content in sorted(plan.texts.items())]
            with path.open("wb") as out:
                written = write_wheel(out, members, plan.name.dist_info)
        except EOFError:
            wheel.check_unchanged()
            raise
        wheel.check_unchanged()
        return written

    def _member(self, source: str, edit: FileEdit | None) -> WheelMember:
        wheel = self._plan.wheel
        path = self._plan.name.path_from(source, wheel.name)
        if not _is_packed(wheel, source, edit):
            return copied_member(wheel, source, path)
        self._count += 1
        file = self._scratch / f"{self._count}.source"
        inflate(wheel, source, file)
        try:
            if edit is not None:
                self._edit(file, edit)
            return self._packed(file, source, path)
        finally:
            file.unlink()

    def _edit(self, file: Path, edit: FileEdit) -> None:
        """Edit a file in place."""
        wanted = DynamicEdit(SearchPath(edit.search_path), edit.needs.renamed)
        try:
            with file.open("rb") as source:
                patch = plan_patch(read_elf(source, edit.source), source, wanted)
                write_patched(patch, source, str(file))
        except (ElfError, ValueError) as error:
            reason = f"{self._plan.wheel.path}: {error}. Its search path cannot be set"
            raise ToolError(f"{reason}: link the file differently, and build the wheel again") from None
        self.notes |= {edit.path: patch.notes} if patch.notes else {}

    def _packed(self, file: Path, source: str, path: str) -> WheelMember:
        mode = file_mode(self._plan.wheel.members[source])
        segment = file.with_suffix(".segment")
        work = Work(Edits((Edit(source, f"{mode:o}", source=source),)), segment)
        [index] = pack_unit([work], {source: str(file)}, None, LEVELS[self._level], usable_cores(MAX_THREADS))
        entry = index.entries[0]
        return WheelMember(path, mode, join([packed_run(entry, str(segment))]), entry.sha256)
