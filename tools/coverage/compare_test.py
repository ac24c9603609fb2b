"""Tests of the comparison of tables."""

from hypothesis import given
from hypothesis import strategies as st

from tools.coverage.compare import accepted, differences, restricted
from tools.coverage.table import Coverage

TARGETS = ("gfx1030", "gfx1100", "gfx90a", "gfx90a:xnack+")
TABLES = st.dictionaries(
    st.sampled_from(["lib/a", "lib/b", "lib/c/"]), st.sets(st.sampled_from(TARGETS), min_size=1)
).map(lambda libraries: Coverage({library: tuple(targets) for library, targets in libraries.items()}))


def test_every_kind_of_difference() -> None:
    expected = Coverage({"lib/a": ("gfx1030", "gfx90a"), "lib/b": ("gfx90a",), "lib/gone": ("gfx803", "gfx900")})
    found = Coverage({"lib/a": ("gfx90a", "gfx942", "gfx950"), "lib/b": ("gfx90a",), "lib/new": ("gfx942",)})
    assert [line for one in differences(expected, found) for line in one.describe()] == [
        "  lib/a",
        "    has no code for gfx1030; expected some",
        "    has code for gfx942, gfx950; expected none",
        "  lib/gone is gone; expected code for gfx803, gfx900",
        "  lib/new is new, with code for gfx942",
    ]


def test_only_some_targets_are_compared() -> None:
    table = Coverage({"lib/a": ("gfx10-3-generic", "gfx90a:xnack+"), "lib/b": ("gfx942",)})
    assert restricted(table, ["gfx1031", "gfx90a"]) == Coverage({"lib/a": ("gfx10-3-generic", "gfx90a:xnack+")})
    assert restricted(table, []) == table


@given(TABLES, TABLES)
def test_what_is_accepted_is_no_difference(expected: Coverage, found: Coverage) -> None:
    assert (differences(expected, found) == []) == (expected == found)
    assert accepted(expected, found, []) == found


@given(TABLES, TABLES, st.sets(st.sampled_from(["gfx1030", "gfx90a"]), min_size=1).map(sorted))
def test_what_is_not_compared_is_kept(expected: Coverage, found: Coverage, compared: list[str]) -> None:
    new = accepted(expected, found, compared)
    assert differences(restricted(new, compared), restricted(found, compared)) == []
    for library, codes in expected.libraries.items():
        if "gfx1100" in codes:
            assert "gfx1100" in new.libraries[library]
