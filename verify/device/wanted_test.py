"""Tests of which targets must have code in each place of a library."""

import pytest

from tools.lib.device.target_id import TargetId, parse_target_id
from verify.device.wanted import expanded, in_scope, unserved


def targets(text: str) -> frozenset[TargetId]:
    """Parse target IDs."""
    return frozenset(parse_target_id(one) for one in text.split())


@pytest.mark.parametrize(
    ("codes", "scope", "known", "wanted"),
    [
        ("gfx90a gfx1100", "", "gfx90a gfx1100 gfx1030", "gfx90a gfx1100"),
        ("gfx90a gfx1100", "gfx90a", "gfx90a gfx1100", "gfx90a"),
        ("gfx1100", "gfx1030", "gfx1100 gfx1030", ""),
        ("gfx1100 gfx1030", "gfx110X-all", "gfx1100 gfx1101 gfx1030", "gfx1100"),
        ("gfx90a", "", "gfx90a:xnack+ gfx90a:xnack- gfx906:xnack-", "gfx90a gfx90a:xnack+ gfx90a:xnack-"),
        ("gfx90a:xnack+", "gfx90a", "gfx90a:xnack+ gfx90a:xnack-", "gfx90a gfx90a:xnack+ gfx90a:xnack-"),
        ("gfx11-generic", "", "gfx1100 gfx1151 gfx1030", "gfx1100 gfx1151"),
        ("gfx11-generic", "gfx1102", "gfx11-generic", "gfx1102"),
        ("gfx11-generic", "gfx11-generic", "gfx11-generic", "gfx11-generic"),
        ("amdgcnspirv", "", "gfx1100 gfx90a", "gfx1100 gfx90a"),
    ],
)
def test_in_scope(codes: str, scope: str, known: str, wanted: str) -> None:
    assert in_scope(targets(codes), frozenset(scope.split()), targets(known)) == targets(wanted)


def test_unserved() -> None:
    codes = targets("gfx90a:xnack+ gfx11-generic")
    offered = ["gfx1100", "gfx90a", "gfx1030", "gfx110X-all", "gfx94X-dcgpu"]
    assert unserved(codes, offered) == ("gfx1030", "gfx94X-dcgpu")


def test_families_are_those_of_their_processors_that_are_known() -> None:
    assert expanded(["gfx110X-all", "gfx942"], targets("gfx1100 gfx1030")) == {"gfx1100", "gfx942"}
    assert expanded(["gfx110X-all"], targets("gfx942")) == {"gfx110X-all"}
