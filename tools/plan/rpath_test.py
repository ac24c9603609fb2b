"""Tests of the entries by which the loader finds libraries."""

import pytest

from tools.plan.rpath import extended, is_relocatable, origin_relative


@pytest.mark.parametrize(
    ("path", "searched", "entry"),
    [
        ("lib/liba.so", "_core/lib", "$ORIGIN"),
        ("lib/liba.so", "_core/lib/llvm/lib", "$ORIGIN/llvm/lib"),
        ("lib/llvm/bin/clang", "_core/lib", "$ORIGIN/../.."),
        ("liba.so", "_core/lib", "$ORIGIN/lib"),
        ("lib/liba.so", "_other/lib", "$ORIGIN/../../_other/lib"),
        ("liba.so", "_other/lib", "$ORIGIN/../_other/lib"),
    ],
)
def test_origin_relative(path: str, searched: str, entry: str) -> None:
    assert origin_relative("_core", path, searched) == entry


@pytest.mark.parametrize(
    "entry", ["$ORIGIN", "${ORIGIN}", "$ORIGIN/", "$ORIGIN/lib", "$ORIGIN/../lib", "${ORIGIN}/../../lib", "$ORIGIN/.."]
)
def test_entries_that_begin_at_the_file_move_with_it(entry: str) -> None:
    assert is_relocatable(entry)


@pytest.mark.parametrize("entry", ["", "/opt/rocm/lib", "lib", "../lib", ".", "$ORIGINAL/lib", "/x/$ORIGIN"])
def test_entries_of_the_build_machine_do_not(entry: str) -> None:
    assert not is_relocatable(entry)


def test_wanted_entries_come_after_those_that_are_there() -> None:
    assert extended(("$ORIGIN/x", "$ORIGIN/../lib"), ["$ORIGIN", "$ORIGIN/y"]) == (
        "$ORIGIN/x",
        "$ORIGIN/../lib",
        "$ORIGIN",
        "$ORIGIN/y",
    )


def test_nothing_is_repeated_however_it_is_spelled() -> None:
    existing = ("${ORIGIN}/../lib", "$ORIGIN/../lib/", "$ORIGIN//..//lib/.", "$ORIGIN/.")
    assert extended(existing, ["$ORIGIN/../lib", "$ORIGIN", "$ORIGIN/lib"]) == (
        "${ORIGIN}/../lib",
        "$ORIGIN/.",
        "$ORIGIN/lib",
    )


def test_entries_of_the_build_machine_are_left_out() -> None:
    assert extended(("/build/lib", "$ORIGIN", "", "."), ["$ORIGIN/a"]) == ("$ORIGIN", "$ORIGIN/a")
