"""Tests of the RPATH entries that lead the loader to libraries."""

import pytest

from develop.testing.artifacts import artifact, file, library
from lib.common.program import ToolError
from lib.plan.model import Definition, Plan
from tools.actions.plan.rpath import directory_of, extended, is_relocatable, origin_relative
from tools.actions.plan.tool import make_plan


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
    assert directory_of("_core", path, entry) == searched
    assert directory_of("_core", path, entry.replace("$ORIGIN", "${ORIGIN}/.")) == searched


@pytest.mark.parametrize("entry", ["", "lib", "/usr/lib", "$LIB", "$ORIGINAL/lib"])
def test_entries_that_do_not_move_with_the_file_mean_no_directory(entry: str) -> None:
    assert directory_of("_core", "lib/liba.so", entry) is None


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


@pytest.mark.parametrize(
    "entry",
    ["_cor/lib", "/opt/rocm/lib", "$ORIGIN/../lib", "../_core/lib", "_core/../../lib", "_core/$LIB", "_core/a:b", ""],
)
def test_a_directory_outside_the_trees_is_refused(entry: str) -> None:
    definition = Definition("libraries", "runtime", "_libraries", rpath=("_libraries/lib", "_core/lib", entry))
    with pytest.raises(ToolError) as error:
        make_plan(definition, [], [Plan("core", "_core", per_target=False)])
    assert str(error.value) == (
        f"package libraries: rpath has {entry!r}; expected TREE/DIRECTORY without `..`, `$` and `:`, where TREE is "
        "_core or _libraries, the tree of this package or of one in `builds_on`. Correct it, or add the package whose "
        "tree is meant to `builds_on`"
    )


def test_a_tree_and_directories_below_it_are_taken() -> None:
    definition = Definition("core", "runtime", "_core", rpath=("_core", "_core/lib/", "_core/lib/llvm/lib"))
    entry, _ = make_plan(
        definition, [artifact("a_lib_x", library("lib/libx.so"), file("lib/llvm/lib/data"))], []
    ).entries
    assert entry.rpath == ("$ORIGIN/..", "$ORIGIN", "$ORIGIN/llvm/lib")
