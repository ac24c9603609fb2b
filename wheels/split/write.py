"""Writes thin wheels as planned: device code is sliced and packed, all else copied as it was deflated.

Files with device code are inflated into a scratch directory one at a time, sliced for all wheels at once, and removed.
So neither memory nor the disk holds more than one of them beside the thin wheels.

Wheel variants get a flat index: the fat wheel, and the list of variants. An installer that knows nothing of
variants sees the wheel without label alone: the fat wheel, copied as it is.
"""

import hashlib
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lib.common.command import CannotRunError
from lib.common.program import ToolError, size_text
from lib.device.model import DeviceError
from lib.plan.edits import Edit
from lib.wheel.variant_format import DRAFT, index_json, index_name, variant_label
from lib.wheel.wheel_writer import WheelMember, Written
from wheels.common.copying import can_be_copied, copied_member, file_mode, inflate, packed_members, write_new_wheel
from wheels.common.sound_wheel import SoundWheel
from wheels.split.device_files import Group
from wheels.split.plan import PlannedFile, ThinWheel

#: By label of the wheel and path in it: what is made anew.
Packed = Mapping[tuple[str, str], WheelMember]


def write_thin_wheels(fat: SoundWheel, plans: Sequence[ThinWheel], scratch: Path, level: str) -> list[Written]:
    """Write the wheels into `scratch`, each at its place; `level` is a key of LEVELS.

    Raises ToolError for device code that cannot be sliced, and if the fat wheel was changed since it was read.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as segments:
        packed = _pack(fat, plans, Path(segments), level)
        return [_write(fat, plan, packed, scratch / plan.place) for plan in plans]


def _is_packed(fat: SoundWheel, file: PlannedFile) -> bool:
    """Whether a file cannot be copied: a part of it is kept, or the fat wheel does not deflate it."""
    return file.slice is not None or not can_be_copied(fat, file.source)


def _write(fat: SoundWheel, plan: ThinWheel, packed: Packed, path: Path) -> Written:
    members = [packed.get((plan.label, file.path)) or copied_member(fat, file.source, file.path) for file in plan.files]
    return write_new_wheel(path, fat, plan.name, members, plan.metadata, plan.texts)


def _pack(fat: SoundWheel, plans: Sequence[ThinWheel], scratch: Path, level: str) -> Packed:
    """Pack what cannot be copied."""
    wanted: dict[str, list[tuple[str, PlannedFile]]] = defaultdict(list)
    for plan in plans:
        for file in plan.files:
            if _is_packed(fat, file):
                wanted[file.source].append((plan.label, file))
    found: dict[tuple[str, str], WheelMember] = {}
    for number, (source, files) in enumerate(sorted(wanted.items())):
        found |= _pack_file(fat, source, files, scratch / f"{number}.source", level)
    return found


def _pack_file(
    fat: SoundWheel, source: str, files: Sequence[tuple[str, PlannedFile]], inflated: Path, level: str
) -> Packed:
    """Pack one file for all wheels that have something of it; equal parts once."""
    inflate(fat, source, inflated)
    edits = {(label, file.path): _edit(fat, file) for label, file in files}
    paths: dict[Edit, list[str]] = defaultdict(list)
    for (_, path), edit in edits.items():
        paths[edit].append(path)
    try:
        packed = packed_members(fat, source, inflated, paths, level)
    except ToolError as error:
        if not isinstance(error.__cause__, DeviceError):
            raise
        raise ToolError(
            f"{fat.path}: {error.__cause__}. This device code cannot be sliced: leave the file whole with "
            f"--whole={source}"
        ) from None
    return {(label, path): packed[edit, path] for (label, path), edit in edits.items()}


def _edit(fat: SoundWheel, file: PlannedFile) -> Edit:
    kept = None if file.slice is None else tuple(map(str, file.slice))
    mode = f"{file_mode(fat.members[file.source]):o}"
    return Edit(file.source, mode, source=file.source, slice=kept, absent=tuple(map(str, file.absent)) or None)


def write_flat_index(
    fats: Sequence[SoundWheel], groups: Sequence[Group], scratch: Path, output: Path
) -> tuple[list[str], list[str]]:
    """Write what else belongs into `output` into `scratch`, where the thin wheels are.

    Returns the places below both, those that name others last, and lines for people. Raises ToolError for lists of
    variants in `output` that do not agree with these wheels, and if a fat wheel was changed.
    """
    places = [place for fat in fats for place in _copy_fat(fat, scratch, output)]
    lines = [f"for other machines and installers: {fat.path.name} ({size_text(fat.wheel.size)})" for fat in fats]
    wrong = [fat.path.name for fat in fats if fat.record_faults]
    lines += [f"  {name} is copied unchanged, and keeps the RECORD that is wrong" for name in wrong]
    variants = {variant_label(group.label): [target.processor for target in group.targets] for group in groups}
    for name in sorted({index_name(fat.name.distribution, fat.name.version) for fat in fats}):
        path = output / name
        existing = path.read_bytes() if path.is_file() else None
        (scratch / name).write_bytes(index_json(variants, existing, str(path)))
        places.append(name)
        lines.append(f"{name}: {', '.join(variants)} ({DRAFT})")
    return places, lines


def _copy_fat(fat: SoundWheel, scratch: Path, output: Path) -> Iterator[str]:
    """Copy the fat wheel, unless it is in `output` itself; yields its place."""
    place = output / fat.path.name
    if not (place.exists() and place.samefile(fat.path)):
        shutil.copyfile(fat.path, scratch / place.name)
        with (scratch / place.name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != fat.sha256:
                raise CannotRunError(f"{fat.path}: was changed while it was read; nothing was written. Try again")
        yield place.name
