"""Which targets must have device code, and whether they have: pure functions over target IDs.

Which processors a family (`gfx110X-all`) stands for, `tools.gpus.families` says; what a GPU can load,
`tools.device.target_id.can_load`.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tools.device.processors import GENERIC_PROCESSORS, SPIRV
from tools.device.target_id import TargetId, can_load, parse_target_id
from tools.gpus.families import Family, parse_family


def wanted_targets(advertised: Iterable[str], known: Collection[TargetId]) -> tuple[TargetId, ...]:
    """Return the target IDs that code is wanted for, sorted: advertised targets, in every form that code is there for.

    Of `gfx90a`, and with code for `gfx90a:xnack+` and for `gfx90a:xnack-` in `known`, all three are wanted; of a
    family, all processors of `known` that it has. A GPU loads the more general code where there is no special one.
    """
    found: set[TargetId] = set()
    for target in advertised:
        family = parse_family(target)
        if family is None:
            base = parse_target_id(target)
            found |= {base, *(one for one in known if one.processor == base.processor)}
        else:
            found |= {one for one in known if family.has(one.processor)}
            found |= {TargetId(one.processor) for one in known if family.has(one.processor)}
    return tuple(sorted(found))


@dataclass(frozen=True)
class Gap:
    """A target without code: in these of the `bundles`, by number; in all of them if `everywhere`.

    `is_variant` says that there is code for the same processor with other features.
    """

    target: TargetId
    bundles: tuple[int, ...]
    everywhere: bool
    is_variant: bool


def gaps(bundles: Sequence[Collection[TargetId]], wanted: Iterable[TargetId]) -> list[Gap]:
    """Return which of the wanted targets lack code in which bundles.

    Where a whole processor is without code, its forms with features are not counted again.
    """
    found: list[Gap] = []
    for target in sorted(wanted):
        lacking = tuple(number for number, codes in enumerate(bundles) if not serves(codes, target))
        if not lacking or any(gap.target.processor == target.processor and gap.bundles == lacking for gap in found):
            continue
        plain = TargetId(target.processor)
        is_variant = all(serves(bundles[number], plain) for number in lacking)
        found.append(Gap(target, lacking, len(lacking) == len(bundles), is_variant))
    return found


def serves(codes: Iterable[TargetId], target: TargetId) -> bool:
    """Whether a GPU of that target can load one of the code objects."""
    return any(can_load(code, target) for code in codes)


def serves_family(codes: Iterable[TargetId], family: Family) -> bool:
    """Whether some processor of a family can load one of the code objects."""
    for code in codes:
        covered = (code.processor, *GENERIC_PROCESSORS.get(code.processor, ()))
        if code.processor == SPIRV or any(family.has(processor) for processor in covered):
            return True
    return False
