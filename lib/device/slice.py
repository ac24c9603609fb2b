"""Keeps of a file's device code what some GPUs can load, as a patch: the file is read and written once, elsewhere.

    with open(path, "rb") as file:
        patch = plan_slice(file, path, [parse_target_id("gfx1030")])
        for chunk in patch.chunks(file): ...

Headers and tables are read, not code, except bundles that are compressed and lose some: those are inflated, once for
all patches that `plan_slices` makes, and compressed again. The patch goes with others: `lib.elf.patched.then`
plans an edit of the search path on the outcome. `slice_plan` says what is kept, `lib.elf.resize` what happens to
the library around it.
"""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from lib.device.model import Bundle, CodeObject, DeviceCode, DeviceError, Pointer, Span, device_errors
from lib.device.reader import bundle_table, read_device_code
from lib.device.recompress import Recompressed, Recompression, recompress
from lib.device.slice_plan import Remainder, alignment, inner_alignment, missing_targets, plan_remainders
from lib.device.wrapper import POINTER
from lib.elf.patch import Literal, Made, Maker, Patch, PatchBuilder, Piece, SourceRange, Strategy
from lib.elf.patched import open_patched
from lib.elf.reader import read_elf
from lib.elf.resize import NewContent, plan_resize
from lib.gpus.target_id import TargetId


@dataclass(frozen=True, slots=True)
class SlicedBundle:
    """A bundle before and after slicing. The offset of `new` counts from the beginning of the section or file."""

    remainder: Remainder
    new: Bundle
    recompressed: Recompressed | None

    @property
    def old(self) -> Bundle:
        """The bundle as it was."""
        return self.remainder.old

    @property
    def pairs(self) -> tuple[tuple[CodeObject, CodeObject], ...]:
        """The code objects, in the table's order, as they were and as they will be."""
        return self.remainder.pairs


def place_bundles(
    span: Span, remainders: Sequence[Remainder], recompressed: Mapping[Remainder, Recompressed]
) -> list[SlicedBundle]:
    """Place what remains of a span's bundles, one behind the other."""
    placed: list[SlicedBundle] = []
    for remainder in remainders:
        end = placed[-1].new.end if placed else 0
        made = recompressed[remainder] if remainder.is_recompressed else None
        start = end + -(span.address + end) % _outer_alignment(span, remainder)
        placed.append(SlicedBundle(remainder, _new_bundle(remainder, made, start), made))
    return placed


def _outer_alignment(span: Span, remainder: Remainder) -> int:
    old = remainder.old
    return min(alignment(span.address + old.offset - span.offset), inner_alignment(old))


def _new_bundle(remainder: Remainder, made: Recompressed | None, start: int) -> Bundle:
    if remainder.is_whole:
        return replace(remainder.old, offset=start)
    code_objects = tuple(new for _, new in remainder.pairs)
    if made is None:
        return Bundle(start, remainder.size, None, code_objects)
    return Bundle(start, made.size, made.compression, code_objects)


def slice_pieces(span: Span, bundles: Sequence[SlicedBundle]) -> tuple[Piece, ...]:
    """Make the pieces that stand for a whole span, and hold its bundles as planned."""
    writer = _Writer(span.offset)
    for sliced in bundles:
        writer.pad(sliced.new.offset)
        if sliced.remainder.is_whole:
            writer.copy(sliced.old.offset, sliced.old.size)
        elif sliced.recompressed:
            writer.make(sliced.recompressed, sliced.new.size, sliced.old)
        else:
            writer.add(bundle_table(sliced.new.code_objects))
            for old, new in sorted((pair for pair in sliced.pairs if pair[0].size), key=lambda pair: pair[0].offset):
                writer.pad(sliced.new.offset + new.offset)
                writer.copy(sliced.old.offset + old.offset, old.size)
    return writer.finish(span.end)


class _Writer:
    """Collects pieces: bytes of the new span, up to `at`, and what of the old one they stand for."""

    def __init__(self, position: int) -> None:
        self.at = 0
        self._position = position
        self._pending = b""
        self._pieces: list[Piece] = []

    def add(self, data: bytes) -> None:
        self._pending += data
        self.at += len(data)

    def pad(self, at: int) -> None:
        self.add(bytes(at - self.at))

    def copy(self, offset: int, size: int) -> None:
        """Take bytes of the file; those since the last ones are left out."""
        self._flush(offset)
        self._pieces.append(SourceRange(offset, size))
        self._position += size
        self.at += size

    def make(self, maker: Maker, size: int, old: Bundle) -> None:
        """Have bytes made instead of a bundle's."""
        self._flush(old.offset)
        self._pieces.append(Made(maker, size, replaces=old.size))
        self._position += old.size
        self.at += size

    def finish(self, end: int) -> tuple[Piece, ...]:
        self._flush(end)
        return tuple(self._pieces)

    def _flush(self, position: int) -> None:
        """Write down the bytes that wait, for what the file has up to `position`."""
        if self._pending or position > self._position:
            self._pieces.append(Literal(self._pending, position - self._position))
        self._pending, self._position = b"", position


#: zstd's own default level.
DEFAULT_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class SliceTargets:
    """Targets of a patch: those whose code is kept, and those among them that are known to have no code."""

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
        wanted = SliceTargets(tuple(targets), tuple(absent))
        return plan_slices(file, path, [wanted], Recompression(level, pool))[0]


def plan_slices(file: BinaryIO, path: str, wanted: Sequence[SliceTargets], frames: Recompression) -> list[Patch]:
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
    """Raise DeviceError unless exactly the `absent` targets find no code; a file without any code needs none absent."""
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
