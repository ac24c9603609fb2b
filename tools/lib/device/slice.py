"""Keeps of a file's device code what some GPUs can load, as a patch: the file is read and written once, elsewhere.

    with open(path, "rb") as file:
        patch = plan_slice(file, path, [parse_target_id("gfx1030")])
        for chunk in patch.chunks(file): ...

Headers and tables are read, not code, but for bundles that are compressed and lose some: those are inflated, once for
all patches that `plan_slices` makes, and compressed again. The patch goes with others: `tools.lib.elf.compose.then`
plans an edit of the search path on the outcome. `slice_plan` says what is kept, `tools.lib.elf.resize` what happens to
the library around it.
"""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import BinaryIO, Final

from tools.lib.device.errors import DeviceError, device_errors
from tools.lib.device.model import DeviceCode, Pointer, Span
from tools.lib.device.reader import read_device_code
from tools.lib.device.recompress import Recompressed, Recompression, recompress
from tools.lib.device.slice_content import slice_pieces
from tools.lib.device.slice_layout import SlicedBundle, place_bundles
from tools.lib.device.slice_plan import Remainder, missing_targets, plan_remainders
from tools.lib.device.target_id import TargetId
from tools.lib.device.wrapper import POINTER
from tools.lib.elf.patch import Patch, PatchBuilder, SourceRange, Strategy
from tools.lib.elf.patched import open_patched
from tools.lib.elf.reader import read_elf
from tools.lib.elf.resize import NewContent, plan_resize

#: zstd's own default level.
DEFAULT_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one patch is for: targets whose code is kept, and those of them that have none, as is known."""

    targets: tuple[TargetId, ...]
    absent: tuple[TargetId, ...] = ()


def plan_slice(
    file: BinaryIO,
    path: str,
    targets: Collection[TargetId],
    absent: Collection[TargetId] = (),
    level: int = DEFAULT_LEVEL,
) -> Patch:
    """Plan one patch, as `plan_slices` does; zstd compresses at `level`, in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        wanted = Wanted(tuple(targets), tuple(absent))
        return plan_slices(file, path, [wanted], Recompression(level, pool))[0]


def plan_slices(file: BinaryIO, path: str, wanted: Sequence[Wanted], frames: Recompression) -> list[Patch]:
    """Plan patches of the file open in `file`, called `path` in errors: each keeps what its targets can load.

    A patch is the identity for a file without device code, and if it loses nothing. Raises DeviceError for a damaged
    file, for one without any code for one of the targets, unless that is declared in `absent`, and for one with device
    code of which a target in `absent` can load some.
    """
    device = read_device_code(file, path)
    for one in wanted:
        require_code(device, one.targets, one.absent)
    with device_errors():
        span = _only_span(device)
        if span is None:
            return [_identity(file, path)] * len(wanted)
        remainders = [plan_remainders(device, span, one.targets) for one in wanted]
        changed = {remainder: None for one in remainders for remainder in one if remainder.is_recompressed}
        made = recompress(file, path, changed, frames)
        return [_plan_patch(file, device, span, one, made) for one in remainders]


def _identity(file: BinaryIO, path: str) -> Patch:
    return PatchBuilder(path, file.seek(0, 2)).build(Strategy.IDENTITY)


def _only_span(device: DeviceCode) -> Span | None:
    """Return the span that has bytes, None if none has; raises DeviceError for several."""
    spans = [span for span in device.spans if span.size]
    if len(spans) > 1:
        reason = f"{len(spans)} sections {spans[0].name}; expected one, which all others go into when a file is linked"
        raise DeviceError(device.path, spans[1].offset, f"{reason}. Leave the file whole, or link it again")
    return spans[0] if spans else None


def require_code(device: DeviceCode, targets: Collection[TargetId], absent: Collection[TargetId] = ()) -> None:
    """Raise DeviceError unless just those of the targets find no code, in a file that has some, that are declared."""
    missing = missing_targets(device, [*targets, *absent])
    stale = sorted(set(absent) - set(missing)) if next(device.code_objects(), None) else []
    if undeclared := [target for target in missing if target not in absent]:
        has = ", ".join(sorted({str(code.entry.target) for code in device.code_objects() if code.entry.target}))
        names = ", ".join(map(str, undeclared))
        reason = f"no code that {names} can load; there is code for {has}. Leave {names} out, or declare it absent here"
        raise DeviceError(device.path, device.spans[0].offset, reason)
    if stale:
        names = ", ".join(map(str, stale))
        reason = f"there is code that {names} can load, declared absent. Take {names} out of the declaration"
        raise DeviceError(device.path, device.spans[0].offset, reason)


def _plan_patch(
    file: BinaryIO,
    device: DeviceCode,
    span: Span,
    remainders: Sequence[Remainder],
    recompressed: Mapping[Remainder, Recompressed],
) -> Patch:
    if all(remainder.is_whole for remainder in remainders):
        return _identity(file, device.path)
    bundles = place_bundles(span, remainders, recompressed)
    patch = (_plan_section if span.name else _plan_file)(file, device, span, bundles)
    _check(file, patch, device, span, bundles)
    return patch


def _plan_file(file: BinaryIO, device: DeviceCode, span: Span, bundles: Sequence[SlicedBundle]) -> Patch:
    """Plan the patch of a file that is bundles, and nothing else."""
    del file
    builder, at = PatchBuilder(device.path, span.size), 0
    for piece in slice_pieces(span, bundles):
        if not isinstance(piece, SourceRange):
            builder.put(at, piece)
        at += piece.replaces
    return builder.build(Strategy.RESIZED)


def _plan_section(file: BinaryIO, device: DeviceCode, span: Span, bundles: Sequence[SlicedBundle]) -> Patch:
    elf = read_elf(file, device.path)
    index = next(
        number
        for number, section in enumerate(elf.section_headers)
        if (section.name, section.offset, section.size) == (span.name, span.offset, span.size)
    )
    starts = {sliced.old.offset - span.offset: sliced.new.offset for sliced in bundles}
    ends = {sliced.old.end - span.offset: sliced.new.end for sliced in bundles}
    words = [wrapper.offset + POINTER for wrapper in device.wrappers if wrapper.pointer is Pointer.IN_PLACE]
    content = NewContent(index, slice_pieces(span, bundles), {0: 0} | ends | starts, words)
    return plan_resize(elf, file, content)


def _check(file: BinaryIO, patch: Patch, old: DeviceCode, span: Span, bundles: Sequence[SlicedBundle]) -> None:
    """Read the device code of the new file through the patch. Raises DeviceError unless it is what was planned."""
    try:
        new = read_device_code(open_patched(patch, file), old.path)
    except DeviceError as error:
        reason = f"contradictory file: it would be damaged by the slice: {error}"
        raise DeviceError(old.path, span.offset, reason) from error
    start = new.spans[0].offset if new.spans else 0
    found = [(bundle.offset - start, bundle.size, bundle.compression, bundle.code_objects) for bundle in new.bundles]
    planned = [sliced.new for sliced in bundles]
    wanted = [(bundle.offset, bundle.size, bundle.compression, bundle.code_objects) for bundle in planned]
    places = {sliced.old.offset: start + sliced.new.offset for sliced in bundles}
    pointers = [(wrapper.address, wrapper.pointer, places[wrapper.bundle_offset]) for wrapper in old.wrappers]
    if found != wanted or pointers != [(w.address, w.pointer, w.bundle_offset) for w in new.wrappers]:
        raise DeviceError(old.path, span.offset, "contradictory file: the slice would not hold what was planned")
