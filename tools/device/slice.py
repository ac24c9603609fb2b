"""Keeps of a file's device code what some GPUs can load, as a patch: the file is read and written once, elsewhere.

    with open(path, "rb") as file:
        patch = plan_slice(file, path, [parse_target_id("gfx1030")])
        for chunk in patch.chunks(file): ...

Headers and tables are read, not code. The patch goes with others: `tools.elf.compose.then` plans an edit of the search
path on the outcome. `slice_plan` says what is kept, `tools.elf.resize` what happens to the library around it.
"""

from collections.abc import Collection, Sequence
from typing import BinaryIO

from tools.device.errors import DeviceError, device_errors
from tools.device.model import DeviceCode, Pointer, Span
from tools.device.reader import read_device_code
from tools.device.slice_content import slice_pieces
from tools.device.slice_plan import SlicedBundle, missing_targets, plan_bundles
from tools.device.target_id import TargetId
from tools.device.wrapper import POINTER
from tools.elf.patch import Patch, PatchBuilder, SourceRange, Strategy
from tools.elf.patched import open_patched
from tools.elf.reader import read_elf
from tools.elf.resize import NewContent, plan_resize


def plan_slice(file: BinaryIO, path: str, targets: Collection[TargetId], absent: Collection[TargetId] = ()) -> Patch:
    """Plan the patch that keeps of the file open in `file`, called `path` in errors, what `targets` can load.

    The identity patch for a file without device code, and one that loses nothing. Raises DeviceError for a damaged
    file, for one without any code for one of the targets, unless that is declared in `absent`, and for one with device
    code of which a target in `absent` can load some.
    """
    device = read_device_code(file, path)
    require_code(device, targets, absent)
    with device_errors():
        spans = [span for span in device.spans if span.size]
        if len(spans) > 1:
            reason = (
                f"{len(spans)} sections {spans[0].name}; expected one, which all others go into when a file is linked"
            )
            raise DeviceError(path, spans[1].offset, f"{reason}. Leave the file whole, or link it again")
        bundles = plan_bundles(device, spans[0], targets) if spans else []
        if all(sliced.is_whole for sliced in bundles):
            return PatchBuilder(path, file.seek(0, 2)).build(Strategy.IDENTITY)
        patch = _plan_patch(file, device, spans[0], bundles)
    _check(file, patch, device, spans[0], bundles)
    return patch


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


def _plan_patch(file: BinaryIO, device: DeviceCode, span: Span, bundles: Sequence[SlicedBundle]) -> Patch:
    pieces = slice_pieces(device.path, span, bundles)
    if not span.name:
        builder = PatchBuilder(device.path, span.size)
        at = 0
        for piece in pieces:
            if not isinstance(piece, SourceRange):
                builder.put(at, piece)
            at += piece.replaces
        return builder.build(Strategy.RESIZED)
    elf = read_elf(file, device.path)
    index = next(
        number
        for number, section in enumerate(elf.section_headers)
        if (section.name, section.offset, section.size) == (span.name, span.offset, span.size)
    )
    starts = {sliced.old.offset - span.offset: sliced.new.offset for sliced in bundles}
    ends = {sliced.old.end - span.offset: sliced.new.end for sliced in bundles}
    words = [wrapper.offset + POINTER for wrapper in device.wrappers if wrapper.pointer is Pointer.IN_PLACE]
    return plan_resize(elf, file, NewContent(index, pieces, {0: 0} | ends | starts, words))


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
