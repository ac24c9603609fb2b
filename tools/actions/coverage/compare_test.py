"""Tests of the comparison of tables."""

from itertools import chain, combinations, product

from tools.actions.coverage.compare import accepted, differences, restricted
from tools.actions.coverage.table import Coverage, collect

TARGETS = ("gfx1100", "gfx90a", "gfx90a:xnack+")
PAIRS = [*product(("lib/a", "lib/b/"), TARGETS)]
#: Every table of two libraries and these targets.
TABLES = [collect(pairs) for pairs in chain.from_iterable(combinations(PAIRS, count) for count in range(7))]


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


def test_what_is_accepted_is_no_difference() -> None:
    for expected, found in product(TABLES, TABLES):
        assert (differences(expected, found) == []) == (expected == found)
        assert accepted(expected, found, []) == found


def test_what_is_not_compared_is_kept() -> None:
    compared = ["gfx90a"]
    for expected, found in product(TABLES[::3], TABLES):
        new = accepted(expected, found, compared)
        assert differences(restricted(new, compared), restricted(found, compared)) == []
        kept = [library for library, codes in expected.libraries.items() if "gfx1100" in codes]
        assert [library for library, codes in new.libraries.items() if "gfx1100" in codes] == kept
