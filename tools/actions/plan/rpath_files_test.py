"""Tests of search paths: which files get which entries, and what stops the build."""

from dataclasses import replace

import pytest

from develop.testing.artifacts import library, plan
from lib.common.program import ToolError
from lib.plan.model import Definition, Entry, Found, Plan, Treatment

CORE = plan(Definition("core", "runtime", "_core"), library("lib/libcore.so.1", "libcore.so.1"))
PACKAGE = Definition("math", "runtime", "_math", rpath=("_math/lib", "_core/lib"))
BOTH = ("$ORIGIN", "$ORIGIN/../../_core/lib")


def needing(path: str, *needed: str, rpath: tuple[str, ...] = (), runpath: tuple[str, ...] = ()) -> Found:
    """Make a library that needs others."""
    found = library(path, path.rpartition("/")[2], rpath, runpath)
    assert found.facts
    return replace(found, facts=replace(found.facts, needed=needed))


def planned(definition: Definition, *found: Found, builds_on: tuple[Plan, ...] = (CORE,)) -> Entry:
    """Plan a package; return the entry of its first file."""
    made = plan(definition, *found, needing("lib/libmath.so", "libc.so.6"), builds_on=builds_on)
    (entry,) = (entry for entry in made.entries if entry.path == found[0].path)
    return entry


@pytest.mark.parametrize("own", ["rpath", "runpath"])
def test_what_the_file_has_is_extended_as_dt_rpath(own: str) -> None:
    entry = planned(PACKAGE, needing("lib/libx.so", "libmath.so", **{own: ("$ORIGIN",)}))
    assert (entry.rpath, entry.treatment) == (BOTH, Treatment.PATCH)
    assert (planned(PACKAGE, needing("lib/libx.so", **{own: BOTH})).rpath is None) is (own == "rpath")


def test_entries_that_lead_nowhere_are_kept() -> None:
    assert planned(PACKAGE, needing("lib/libx.so", rpath=("$ORIGIN/gone",))).rpath == ("$ORIGIN/gone", *BOTH)


SYSTEM = ("libc.so.6", "ld-linux-x86-64.so.2")


@pytest.mark.parametrize("own", [(), ("$ORIGIN",)])
@pytest.mark.parametrize(
    ("opens", "needed", "is_edited"),
    [
        (False, SYSTEM, False),
        (True, SYSTEM, True),  # as libhiprtc.so does, which needs libc alone and opens libamd_comgr.so
        (False, (), True),  # nothing is known of it
        (False, (*SYSTEM, "libcuda.so.1"), True),  # which may need others
        (False, ("libcore.so.1", "libc.so.6"), True),
    ],
)
def test_a_file_that_the_system_serves_gets_no_entries(
    opens: bool, needed: tuple[str, ...], is_edited: bool, own: tuple[str, ...]
) -> None:
    found = needing("lib/libx.so", *needed, rpath=own)
    assert found.facts
    found = replace(found, facts=replace(found.facts, opens=opens))
    assert planned(PACKAGE, found).rpath == (BOTH if is_edited else None)


def test_a_system_library_that_a_package_has_is_searched_for() -> None:
    core = plan(Definition("core", "runtime", "_core"), library("lib/libstdc++.so.6", "libstdc++.so.6"))
    found = needing("lib/libx.so", "libstdc++.so.6", "libc.so.6")
    assert planned(PACKAGE, found, builds_on=(core,)).rpath == BOTH
    assert planned(replace(PACKAGE, rpath=("_math/lib",)), found).rpath is None


def test_entries_of_the_build_machine_and_the_other_tag_go_where_the_system_serves() -> None:
    entry = planned(PACKAGE, needing("lib/libx.so", "libc.so.6", rpath=("/build/lib", "$ORIGIN")))
    assert (entry.rpath, entry.treatment) == (("$ORIGIN",), Treatment.PATCH)
    assert planned(PACKAGE, needing("lib/libx.so", "libc.so.6", rpath=("/build/lib",))).rpath == ()
    assert planned(PACKAGE, needing("lib/libx.so", "libc.so.6", runpath=("$ORIGIN",))).rpath == ("$ORIGIN",)


@pytest.mark.parametrize("missing", ["_math/lib64", "_core/lib/sub"])
def test_a_directory_that_its_tree_lacks_is_refused(missing: str) -> None:
    definition = replace(PACKAGE, rpath=("_math/lib", missing))
    with pytest.raises(ToolError) as error:
        planned(definition, needing("lib/libx.so"))
    assert str(error.value) == (
        f"package math: rpath has '{missing}', but package {missing[1:5]} has no file in that directory; expected one "
        "with libraries. Correct the directory, or remove it. If it may be missing, name it in `allow_unmatched`, too"
    )
    allowed = replace(definition, allow_unmatched=(missing,))
    assert planned(allowed, needing("lib/libx.so", "libmath.so")).rpath is not None


def test_a_package_without_a_file_lacks_no_directory() -> None:
    empty = plan(Definition("core", "runtime", "_core"))
    assert planned(PACKAGE, needing("lib/libx.so"), builds_on=(empty,)).rpath == BOTH


def test_a_devel_tree_has_what_packages_by_target_have() -> None:
    by_target = plan(Definition("lib_gfx942", "runtime", "_gfx942", per_target=True), library("lib/a.so.1", "a.so.1"))
    devel = Definition("devel", "devel", "_devel", rpath=("_devel/lib",))
    assert plan(devel, builds_on=(by_target,)).entries == ()
