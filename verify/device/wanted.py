"""Which targets must have code in each place of a library: what the coverage table lists, else what the library has.

Pure functions over target IDs. Code for a generic target, or for fewer features, serves in place of special code.
"""

from collections.abc import Collection, Iterable

from tools.lib.device.processors import GENERIC_PROCESSORS, SPIRV
from tools.lib.device.target_id import TargetId, parse_target_id
from tools.lib.gpus.families import parse_family
from verify.device.coverage import serves, serves_family


def in_scope(codes: Collection[TargetId], targets: Collection[str], known: Collection[TargetId]) -> frozenset[TargetId]:
    """Return the target IDs that a library with these codes serves, of those that its package is for.

    `targets` are targets and families, all if there are none; `known` is all that there is code for in the set. Each
    processor is taken in every form that `known` has: where other code is for both settings of XNACK, this has to be.
    """
    processors = {code.processor for code in codes} | {one.processor for one in known if serves(codes, one)}
    processors |= {target for target in targets if parse_family(target) is None and _serves(codes, target)}
    real = {one for one in processors if one != SPIRV and (one not in GENERIC_PROCESSORS or one in targets)}
    if targets:
        real = {one for one in real if any(_is_for(one, target) for target in targets)}
    return frozenset(TargetId(one) for one in real) | frozenset(one for one in known if one.processor in real)


def unserved(codes: Collection[TargetId], targets: Iterable[str]) -> tuple[str, ...]:
    """Return the targets and families that can load none of the codes, sorted."""
    return tuple(sorted(target for target in targets if not _serves(codes, target)))


def expanded(targets: Iterable[str], known: Collection[TargetId]) -> frozenset[str]:
    """Return targets, with each family replaced by those of its processors that are known, if any is."""
    found: set[str] = set()
    for target in targets:
        family = parse_family(target)
        members = {one.processor for one in known if family and family.has(one.processor)}
        found |= members or {target}
    return frozenset(found)


def _serves(codes: Collection[TargetId], target: str) -> bool:
    family = parse_family(target)
    return serves(codes, parse_target_id(target)) if family is None else serves_family(codes, family)


def _is_for(processor: str, target: str) -> bool:
    family = parse_family(target)
    return parse_target_id(target).processor == processor if family is None else family.has(processor)
