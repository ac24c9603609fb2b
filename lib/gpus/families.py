"""Resolves a name to GPU targets: a target, a family of targets, or a pattern.

    parse_family("gfx110X-dgpu").has("gfx1103")  # False: a gfx1103 is part of a processor
    overlap("gfx1250", "gfx12-5")                # True
    package_owner("gfx1250-strict")              # gfx1250

A family's name says which digits its targets have (`X` stands for any) and, after a `-`, of which kind they are. AMD's
table, in `table.py`, knows each target's kind and the package that owns it. A target that it lacks, an old or a new
one, is judged by its digits alone.

This file and `table.py` run on Python 3.9 and import nothing else of the project: the installed `rocm_sdk.gpus` has
links to both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from .table import TARGETS, Target

#: What may follow the `-` of a family: `all`, or a kind of GPU (data centre, discrete, integrated).
KINDS = ("all", "dcgpu", "dgpu", "igpu")

_BY_NAME = {target.name: target for target in TARGETS}
#: Major version, and a hexadecimal digit each for minor version and stepping.
_PROCESSOR = re.compile(r"gfx(?:[6-9]|1[0-9])[0-9a-f]{2}")
_MAJOR = re.compile(r"[6-9]|1[0-9]")
_FAMILY = re.compile(r"gfx(?P<digits>[0-9a-fxX]*)(?:[-_](?P<minor>[0-9a-f]))?(?:-(?P<kind>all|dcgpu|dgpu|igpu))?")
#: What file names have instead of the `:` before a feature.
_HYPHEN = re.compile(r"-(?=(?:xnack|sramecc)[+-])")
_HEX = "[0-9a-f]"
#: As many digits are open in a family of all targets.
_ALL_OPEN = 5


@dataclass(frozen=True)
class Family:
    """Some targets: those with the `digits` that are of the `kind`, which is empty for any."""

    name: str
    digits: re.Pattern[str]
    kind: str
    open_digits: int
    """How many digits the name leaves open: the fewer, the narrower the family."""

    def has(self, target: str) -> bool:
        """Whether a target, with or without features, is one of the family's."""
        processor = without_features(target)
        known = _BY_NAME.get(processor)
        if not self.digits.fullmatch(known.owner if known else processor):
            return False
        if self.kind in ("", "all"):
            return True
        return known.kind == self.kind if known else self.open_digits < _ALL_OPEN

    def means_the_same(self, other: Family) -> bool:
        """Whether another name stands for the same targets, as `gfx12-5` and `gfx125X-all` do."""
        kinds = {kind or "all" for kind in (self.kind, other.kind)}
        return self.digits.pattern == other.digits.pattern and len(kinds) == 1


@cache
def parse_family(name: str) -> Family | None:
    """Return the family of that name, or None if it is no family's: a target's, a generic processor's, another word.

    Forms: `gfx110X`, `gfx110X-all`, `gfx94X-dcgpu` (ROCm's builds), `gfx950-dcgpu` (one target), `gfx9`, `gfx9-all` (a
    major version), `gfx12_5`, `gfx12-5`, `gfx115x` (rocm-bootstrap, in modules and distributions), `gfx-all`,
    `dgpu-all`.
    """
    if name.endswith("-all") and name[: -len("-all")] in KINDS:
        return Family(name, _PROCESSOR, name[: -len("-all")], _ALL_OPEN)
    match = _FAMILY.fullmatch(name)
    if not match:
        return None
    digits, minor, kind = match["digits"], match["minor"], match["kind"] or ""
    is_major = _MAJOR.fullmatch(digits) is not None
    if minor is not None:
        return Family(name, re.compile(f"gfx{digits}{minor}{_HEX}"), kind, 1) if is_major else None
    if is_major:
        return Family(name, re.compile(f"gfx{digits}{_HEX}{_HEX}"), kind, 2)
    if not digits:
        return Family(name, _PROCESSOR, kind, _ALL_OPEN) if kind else None
    open_digits = digits.lower().count("x")
    if not open_digits and not (kind and _PROCESSOR.fullmatch(f"gfx{digits}")):
        return None
    return Family(name, re.compile("gfx" + re.sub("[xX]", _HEX, digits)), kind, open_digits)


def overlap(one: str, other: str) -> bool:
    """Whether two names, of targets or families, have a GPU in common. Features do not count."""
    if package_owner(one) == package_owner(other):
        return True
    first, second = parse_family(one), parse_family(other)
    if first and second:
        return any(first.has(target.name) and second.has(target.name) for target in TARGETS)
    if first:
        return first.has(other)
    return second is not None and second.has(one)


def find_target(name: str) -> Target | None:
    """Return what AMD's table has about a target, with or without features; None if it lacks it."""
    return _BY_NAME.get(without_features(name))


def is_target(name: str) -> bool:
    """Whether a name is a target's, without features: one of the table, or of the form of one."""
    return name in _BY_NAME or _PROCESSOR.fullmatch(name) is not None


def without_features(target: str) -> str:
    """Return a target without its features: `gfx90a` for `gfx90a:xnack+`."""
    return target.partition(":")[0]


def with_colons(target: str) -> str:
    """Return a target with its features as a target ID has them: `gfx90a:xnack+` for `gfx90a-xnack+`."""
    return _HYPHEN.sub(":", target)


def package_owner(target: str) -> str:
    """Return the target whose package holds the code for this one; a family is its own."""
    base = without_features(target)
    known = _BY_NAME.get(base)
    return known.owner if known else base


def name_in_distribution(target: str) -> str:
    """Return how the name of a distribution calls a target or family: `gfx12-5`, of the package that owns it."""
    return package_owner(target).replace("_", "-")
