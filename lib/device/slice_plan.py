"""Plans what remains of each bundle when only code for some GPUs is kept. Pure functions, which read no code.

    remainders = plan_remainders(device, span, targets)   # device: lib.device.reader
    missing = missing_targets(device, targets)

A code object is kept if one of the targets can load it; the host's entries are kept. Bundles stay in their order, and
in each the entries: what a runtime picks among several that a GPU can load, it picks as before. A bundle that keeps no
code is kept all the same, because the program hands its address to HIP.

Code objects keep their alignment: clang says by it what its runtime asks for (4096 bytes, mostly), and a file says
nothing else of it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lib.device.model import Bundle, CodeObject, DeviceCode, DeviceError, Span
from lib.device.reader import table_size
from lib.gpus.target_id import TargetId, can_load

#: What clang aligns bundles and code objects to, in bytes, if it is not told otherwise.
PAGE: Final = 4096
#: Larger alignments are met by chance: no loader asks for them, and they would cost as many zeros.
MAX_ALIGNMENT: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Remainder:
    """Remaining part of the bundle `old`: `size` bytes, inflated if it is compressed.

    `pairs` are the code objects that are kept, in the table's order, as they were and as they will be.
    """

    old: Bundle
    pairs: tuple[tuple[CodeObject, CodeObject], ...]
    size: int

    @property
    def is_whole(self) -> bool:
        """Whether the bundle keeps all that it has: then its bytes stay as they are."""
        return len(self.pairs) == len(self.old.code_objects)

    @property
    def is_recompressed(self) -> bool:
        """Whether the bundle is compressed, and other bytes have to be."""
        return self.old.compression is not None and not self.is_whole


def plan_remainders(device: DeviceCode, span: Span, targets: Collection[TargetId]) -> list[Remainder]:
    """Plan all bundles of a span, in order. Raises DeviceError where it cannot be told whom a code object is for."""
    planned = []
    for bundle in device.bundles:
        if span.offset <= bundle.offset < span.end:
            kept = [code for code in bundle.code_objects if _is_kept(device, bundle, code, targets)]
            planned.append(_remainder(bundle, kept))
    return planned


def missing_targets(device: DeviceCode, targets: Collection[TargetId]) -> list[TargetId]:
    """List the targets that can load no code object of a file that has some, sorted."""
    codes = {code.entry.target for code in device.code_objects()}
    return [
        target for target in sorted(targets) if codes and not any(code and can_load(code, target) for code in codes)
    ]


def _is_kept(device: DeviceCode, bundle: Bundle, code: CodeObject, targets: Collection[TargetId]) -> bool:
    wanted = code.entry.target
    if code.entry.is_host:
        return True
    if wanted is None:
        reason = f"the entry {code.entry.text} names no AMD GPU target: it cannot be told which GPUs load it"
        raise DeviceError(device.path, bundle.offset, reason)
    return any(can_load(wanted, target) for target in targets)


def inner_alignment(bundle: Bundle) -> int:
    """Return what the code objects of a bundle are aligned to in it, in bytes: a page at least."""
    found = min((alignment(code.offset) for code in bundle.code_objects), default=1)
    return max(PAGE, min(found, MAX_ALIGNMENT))


def _remainder(old: Bundle, kept: Sequence[CodeObject]) -> Remainder:
    if len(kept) == len(old.code_objects):
        size = old.size if old.compression is None else old.compression.inflated_size
        return Remainder(old, tuple((code, code) for code in kept), size)
    inner = inner_alignment(old)
    end = size = table_size([code.entry.text for code in kept])
    places = {}
    for code in sorted(kept, key=lambda code: (code.offset, code.size)):
        end += -end % min(alignment(code.offset), inner)
        places[code] = replace(code, offset=end)
        end += code.size
        size = end if code.size else size
    # An empty entry is not behind the end: LLVM takes a bundle with such an entry for one without entries.
    pairs = ((code, replace(places[code], offset=min(places[code].offset, size))) for code in kept)
    return Remainder(old, tuple(pairs), size)


def alignment(value: int) -> int:
    """Return the largest power of two that divides a number; more than enough for 0."""
    return value & -value or 1 << 62
