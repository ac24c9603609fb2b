"""Writes thin wheels as planned: device code is sliced and packed, all else copied as it was deflated.

Files with device code are inflated into a scratch directory one at a time, sliced for all wheels at once, and removed.
So neither memory nor the disk holds more than one of them beside the thin wheels.
"""

import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from lib.common.program import ToolError, usable_cores
from lib.device.model import DeviceError
from lib.gpus.target_id import TargetId, can_load
from lib.pack.packed_tree import packed_run
from lib.pack.packer import Work, pack_unit
from lib.pack.segment import LEVELS
from lib.plan.edits import Edit, Edits
from lib.wheel.deflated_run import join
from lib.wheel.wheel_writer import WheelMember, Written, text_member, write_wheel
from lib.wheel.zip_members import STORED
from wheels.common.copying import copied_member, file_mode, inflate, inflated_size, space_for
from wheels.common.sound_wheel import SoundWheel
from wheels.split.plan import PlannedFile, ThinWheel
from wheels.verify.device.facts import DEVICE, DeviceFacts

#: More threads would wait for the disk.
MAX_THREADS: Final = 8

#: By label of the wheel and path in it: what is made anew.
Packed = Mapping[tuple[str, str], WheelMember]
#: What is kept of a file's device code: `slice` and `absent` of a planned file.
Part = tuple[tuple[TargetId, ...] | None, tuple[TargetId, ...]]


def write_thin_wheels(fat: SoundWheel, plans: Sequence[ThinWheel], scratch: Path, level: str) -> list[Written]:
    """Write the wheels into `scratch`, each at its place; `level` is a key of LEVELS.

    Raises ToolError for device code that cannot be sliced, and if the fat wheel was changed since it was read.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as segments:
        packed = _pack(fat, plans, Path(segments), level)
        try:
            written = [_write(fat, plan, packed, scratch / plan.place) for plan in plans]
        except EOFError:
            fat.check_unchanged()
            raise
    fat.check_unchanged()
    return written


def space_for_thin_wheels(fat: SoundWheel, plans: Sequence[ThinWheel]) -> int:
    """Return about how many bytes it takes on the disk to write the wheels."""
    total, inflated = 0, set[str]()
    for plan in plans:
        packed = {file.source: _part(fat, file) for file in plan.files if _is_packed(fat, file)}
        total += space_for(fat, (file.source for file in plan.files if not _is_packed(fat, file)), packed)
        inflated |= packed.keys()
    return total + inflated_size(fat, inflated)


def _part(fat: SoundWheel, file: PlannedFile) -> float:
    """Return which part of a file is kept, by the sizes of its device code."""
    facts = fat.wheel.files[file.source]
    device = facts.collected.get(DEVICE)
    if file.slice is None or not isinstance(device, DeviceFacts):
        return 1
    gone = [code for code in device.sizes if not any(can_load(code, target) for target in file.slice)]
    # Compressed bundles have more code than the file has bytes.
    whole = max(facts.size, sum(device.sizes.values()), 1)
    return 1 - sum(device.sizes[code] for code in gone) / whole


def _is_packed(fat: SoundWheel, file: PlannedFile) -> bool:
    """Whether a file cannot be copied: a part of it is kept, or the fat wheel does not deflate it."""
    return file.slice is not None or fat.members[file.source].method == STORED


def _write(fat: SoundWheel, plan: ThinWheel, packed: Packed, path: Path) -> Written:
    members = [packed.get((plan.label, file.path)) or copied_member(fat, file.source, file.path) for file in plan.files]
    members.append(text_member(f"{plan.name.dist_info}/METADATA", plan.metadata.encode()))
    members += [text_member(path, content) for path, content in plan.texts]
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as out:
        return write_wheel(out, members, plan.name.dist_info)


def _pack(fat: SoundWheel, plans: Sequence[ThinWheel], scratch: Path, level: str) -> Packed:
    """Pack what cannot be copied."""
    wanted: dict[str, list[tuple[str, PlannedFile]]] = defaultdict(list)
    for plan in plans:
        for file in plan.files:
            if _is_packed(fat, file):
                wanted[file.source].append((plan.label, file))
    found: dict[tuple[str, str], WheelMember] = {}
    for number, (source, files) in enumerate(sorted(wanted.items())):
        found |= _pack_file(fat, source, files, scratch / f"{number}", level)
    return found


def _pack_file(
    fat: SoundWheel, source: str, files: Sequence[tuple[str, PlannedFile]], stem: Path, level: str
) -> Packed:
    """Pack one file for all wheels that have something of it; equal parts once."""
    inflated, mode = stem.with_suffix(".source"), file_mode(fat.members[source])
    inflate(fat, source, inflated)
    parts: list[Part] = list(dict.fromkeys((file.slice, file.absent) for _, file in files))
    work = [
        Work(Edits((_edit(source, mode, part),)), stem.with_suffix(f".{number}.segment"))
        for number, part in enumerate(parts)
    ]
    try:
        indexes = pack_unit(work, {source: str(inflated)}, None, LEVELS[level], usable_cores(MAX_THREADS))
    except ToolError as error:
        if not isinstance(error.__cause__, DeviceError):
            raise
        raise ToolError(
            f"{fat.path}: {error.__cause__}. This device code cannot be sliced: leave the file whole with "
            f"--whole={source}"
        ) from None
    finally:
        inflated.unlink()
    segments = {part: (one.segment, index.entries[0]) for part, one, index in zip(parts, work, indexes, strict=True)}
    found = {}
    for label, file in files:
        segment, entry = segments[file.slice, file.absent]
        found[label, file.path] = WheelMember(file.path, mode, join([packed_run(entry, str(segment))]), entry.sha256)
    return found


def _edit(source: str, mode: int, part: Part) -> Edit:
    targets, absent = part
    kept = None if targets is None else tuple(map(str, targets))
    return Edit(source, f"{mode:o}", source=source, slice=kept, absent=tuple(map(str, absent)) or None)
