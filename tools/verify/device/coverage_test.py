"""Tests of what families stand for."""

import pytest

from tools.verify.device.coverage import family_pattern


@pytest.mark.parametrize(
    ("family", "inside", "outside"),
    [
        ("gfx110X-all", ["gfx1100", "gfx1103", "gfx110a"], ["gfx1110", "gfx11000", "gfx942"]),
        ("gfx94X-dcgpu", ["gfx942", "gfx940"], ["gfx950", "gfx1100"]),
        ("gfx9-all", ["gfx900", "gfx90a", "gfx942"], ["gfx1030", "gfx9"[:3]]),
        ("gfx-all", ["gfx803", "gfx90a", "gfx1250"], ["gfx", "gfx11-generic"]),
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
