"""Tests of which targets must have code, and of what lacks it."""

import pytest

from tools.device.target_id import TargetId, parse_target_id
from tools.verify.device.coverage import family_pattern, gaps, wanted_targets


def targets(text: str) -> frozenset[TargetId]:
    """Parse target IDs."""
    return frozenset(parse_target_id(one) for one in text.split())


def shown(*bundles: str, wanted: str) -> list[tuple[str, tuple[int, ...], bool, bool]]:
    """Return the gaps, to be compared."""
    found = gaps([targets(one) for one in bundles], targets(wanted))
    return [(str(gap.target), gap.bundles, gap.everywhere, gap.is_variant) for gap in found]


@pytest.mark.parametrize(
    ("family", "inside", "outside"),
    [
        ("gfx110X-all", ["gfx1100", "gfx1103", "gfx110a"], ["gfx1110", "gfx11000", "gfx942"]),
        ("gfx94X-dcgpu", ["gfx942", "gfx940"], ["gfx950", "gfx1100"]),
        ("gfx9-all", ["gfx900", "gfx90a", "gfx942"], ["gfx1030", "gfx9"[:3]]),
        ("gfx1151-igpu", ["gfx1151"], ["gfx1150"]),
    ],
)
def test_families(family: str, inside: list[str], outside: list[str]) -> None:
    pattern = family_pattern(family)
    assert pattern
    assert all(pattern.fullmatch(one) for one in inside)
    assert not any(pattern.fullmatch(one) for one in outside)


def test_what_is_no_family() -> None:
    assert [family_pattern(one) for one in ("gfx942", "gfx90a:xnack+", "gfx11-generic")] == [None, None, None]


def test_every_form_that_there_is_code_for_is_wanted() -> None:
    known = targets("gfx90a:xnack+ gfx90a:xnack- gfx906:xnack- gfx1100 gfx1101 gfx1030")
    assert [str(one) for one in wanted_targets(["gfx90a"], known)] == ["gfx90a", "gfx90a:xnack-", "gfx90a:xnack+"]
    assert [str(one) for one in wanted_targets(["gfx110X-all"], known)] == ["gfx1100", "gfx1101"]
    assert [str(one) for one in wanted_targets(["gfx942"], known)] == ["gfx942"]


def test_code_without_features_serves_every_form() -> None:
    assert shown("gfx90a", "gfx90a:xnack+ gfx90a:xnack-", wanted="gfx90a gfx90a:xnack+ gfx90a:xnack-") == []


def test_generic_code_and_spirv_serve_what_they_cover() -> None:
    assert shown("gfx11-generic", "amdgcnspirv", wanted="gfx1100 gfx1151") == []


def test_a_form_without_code() -> None:
    assert shown("gfx90a:xnack+", wanted="gfx90a gfx90a:xnack+ gfx90a:xnack-") == [("gfx90a:xnack-", (0,), True, True)]


def test_a_processor_without_code_is_one_gap() -> None:
    assert shown("gfx1100", wanted="gfx90a gfx90a:xnack+ gfx90a:xnack-") == [("gfx90a", (0,), True, False)]


def test_bundles_that_differ() -> None:
    assert shown("gfx90a gfx1100", "gfx1100", "gfx90a", wanted="gfx90a gfx1100") == [
        ("gfx1100", (2,), False, False),
        ("gfx90a", (1,), False, False),
    ]
