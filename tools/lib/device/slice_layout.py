"""Where the bundles go that remain: pure functions, no bytes.

Bundles keep their alignment in memory, for the reason that code objects keep theirs in bundles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tools.lib.device.model import Bundle, CodeObject, Span
from tools.lib.device.recompress import Recompressed
from tools.lib.device.slice_plan import Remainder, alignment, inner_alignment


@dataclass(frozen=True, slots=True)
class SlicedBundle:
    """What becomes of a bundle: `new`, whose offset counts from the beginning of the section (or of the file)."""

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
