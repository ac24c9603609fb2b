"""Tests of which targets must have code, and of what lacks it."""

from tools.device.target_id import TargetId, parse_target_id
from tools.verify.device.coverage import gaps, wanted_targets


def targets(text: str) -> frozenset[TargetId]:
    """Parse target IDs."""
    return frozenset(parse_target_id(one) for one in text.split())


def shown(*bundles: str, wanted: str) -> list[tuple[str, tuple[int, ...], bool, bool]]:
    """Return the gaps, to be compared."""
    found = gaps([targets(one) for one in bundles], targets(wanted))
    return [(str(gap.target), gap.bundles, gap.everywhere, gap.is_variant) for gap in found]


def test_every_form_that_there_is_code_for_is_wanted() -> None:
    known = targets("gfx90a:xnack+ gfx90a:xnack- gfx906:xnack- gfx1100 gfx1101 gfx1030")
    assert [str(one) for one in wanted_targets(["gfx90a"], known)] == ["gfx90a", "gfx90a:xnack-", "gfx90a:xnack+"]
    assert [str(one) for one in wanted_targets(["gfx110X-all"], known)] == ["gfx1100", "gfx1101"]
    assert [str(one) for one in wanted_targets(["gfx942"], known)] == ["gfx942"]
    integrated = targets("gfx1100 gfx1103")
    assert [str(one) for one in wanted_targets(["gfx110X-dgpu"], integrated)] == ["gfx1100"]


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
