"""What a split comes to, for people."""

from collections.abc import Iterator, Sequence

from wheels.common.sound_wheel import SoundWheel
from wheels.split.plan import ThinWheel
from wheels.split.sizes import SplitSizes
from wheels.verify.device.stray_code import stray_code

#: So many files are named in a line; the rest is a number.
_SHOWN = 3


def describe(fat: SoundWheel, plans: Sequence[ThinWheel], sizes: SplitSizes) -> Iterator[str]:
    """Yield lines: the fat wheel, what of it cannot be split, and each thin one with what it lacks."""
    first, *lines = sizes.lines()
    yield first
    yield from fat.record_lines()
    yield from (f"    device code that stays whole: {one}" for one in stray_code(fat.wheel))
    for plan, line in zip(plans, lines, strict=True):
        yield line
        if plan.left_out:
            yield f"    without {_some(plan.left_out)}: for other GPUs"
        for target in sorted({target for file in plan.files for target in file.absent}):
            lacking = [file.path for file in plan.files if target in file.absent]
            yield f"    no code for {target} in {_some(lacking)}"


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more
