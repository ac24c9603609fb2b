"""Writes the planned wheel: edited files are packed anew, all else is copied as it was deflated."""

from pathlib import Path

from lib.common.program import ToolError
from lib.elf.dynamic_edit import DynamicEdit
from lib.elf.editor import plan_patch
from lib.elf.patched import write_patched
from lib.elf.reader import read_elf
from lib.elf.source import ElfError
from lib.plan.edits import Edit
from lib.wheel.wheel_writer import WheelMember, Written
from wheels.common.copying import (
    MADE,
    can_be_copied,
    copied_member,
    file_mode,
    inflate,
    packed_members,
    write_new_wheel,
)
from wheels.require_sdk.plan import FileEdit, RequiringWheel


def _kept(plan: RequiringWheel) -> list[str]:
    """Return the files that the new wheel has as well, as the old one calls them."""
    wheel = plan.wheel
    gone = {copy.path for copy in plan.left_out} | {f"{wheel.name.dist_info}/{name}" for name in MADE}
    return [source for source in wheel.wheel.files if not {source, wheel.wheel.installed(source)} & gone]


class Writer:
    """Writes one wheel; `level` is a key of LEVELS, `scratch` a directory for files that are packed."""

    def __init__(self, plan: RequiringWheel, scratch: Path, level: str) -> None:
        self._plan = plan
        self._scratch = scratch
        self._level = level
        self.notes: dict[str, tuple[str, ...]] = {}
        """By file what an edit gave up."""

    def write(self, path: Path) -> Written:
        """Write the wheel. Raises ToolError for a file that cannot be edited, and if the old wheel was changed."""
        plan = self._plan
        edits = {edit.source: edit for edit in plan.edits}
        members = [self._member(number, source, edits.get(source)) for number, source in enumerate(_kept(plan))]
        return write_new_wheel(path, plan.wheel, plan.name, members, plan.metadata, sorted(plan.texts.items()))

    def _member(self, number: int, source: str, edit: FileEdit | None) -> WheelMember:
        wheel = self._plan.wheel
        path = self._plan.name.path_from(source, wheel.name)
        if edit is None and can_be_copied(wheel, source):
            return copied_member(wheel, source, path)
        file = self._scratch / f"{number}.source"
        inflate(wheel, source, file)
        if edit is not None:
            self._edit(file, edit)
        packed = Edit(source, f"{file_mode(wheel.members[source]):o}", source=source)
        [member] = packed_members(wheel, source, file, {packed: [path]}, self._level).values()
        return member

    def _edit(self, file: Path, edit: FileEdit) -> None:
        """Edit a file in place."""
        wanted = DynamicEdit(edit.search_path, edit.needs.renamed)
        try:
            with file.open("rb") as source:
                patch = plan_patch(read_elf(source, edit.source), source, wanted)
                write_patched(patch, source, str(file))
        except (ElfError, ValueError) as error:
            reason = f"{self._plan.wheel.path}: {error}. Its search path cannot be set"
            raise ToolError(f"{reason}: link the file differently, and build the wheel again") from None
        self.notes |= {edit.path: patch.notes} if patch.notes else {}
