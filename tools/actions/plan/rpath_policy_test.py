"""Tests of policies for search paths: which files get which entries, and what stops the build."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from develop.testing.artifacts import library, plan
from lib.common.program import ToolError
from lib.plan.model import Definition, Entry, Found, Plan, Treatment

CORE = plan(Definition("core", "runtime", "_core"), library("lib/libcore.so.1", "libcore.so.1"))
PACKAGE = Definition("math", "runtime", "_math", rpath=("_math/lib", "_core/lib"), rpath_for="needed")
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


@pytest.mark.parametrize("needed", [(), ("libc.so.6",), ("libc.so.6", "libcuda.so.1")])
def test_a_file_that_needs_nothing_of_packages_is_kept(needed: tuple[str, ...]) -> None:
    entry = planned(PACKAGE, needing("lib/libx.so", *needed))
    assert (entry.treatment, entry.rpath, entry.reason) == (Treatment.KEEP, None, "library under its SONAME")


@pytest.mark.parametrize("needed", ["libcore.so.1", "libmath.so"])
def test_a_file_that_misses_a_library_gets_all_entries(needed: str) -> None:
    """Also for one beside it: the loader does not look there by itself."""
    entry = planned(PACKAGE, needing("lib/libx.so", needed))
    assert (entry.treatment, entry.rpath, entry.rpath_tag) == (Treatment.PATCH, BOTH, None)


def test_a_file_that_finds_its_libraries_is_kept() -> None:
    assert planned(PACKAGE, needing("lib/libx.so", "libmath.so", rpath=("$ORIGIN",))).rpath is None


@pytest.mark.parametrize(("tag", "written"), [("DT_RPATH", None), ("DT_RUNPATH", "DT_RUNPATH")])
def test_the_tag_is_that_of_the_package(tag: str, written: str | None) -> None:
    """If the file has the other one, it is changed."""
    definition = replace(PACKAGE, rpath_tag=tag)
    own = {"runpath" if tag == "DT_RPATH" else "rpath": ("$ORIGIN",)}
    entry = planned(definition, needing("lib/libx.so", "libmath.so", **own))
    assert (entry.rpath, entry.rpath_tag) == (BOTH, written)
    other = {"rpath" if tag == "DT_RPATH" else "runpath": BOTH}
    assert planned(replace(definition, rpath_for="all"), needing("lib/libx.so", **other)).rpath is None


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
    definition = replace(PACKAGE, rpath_for="all")
    assert planned(definition, found).rpath == (BOTH if is_edited else None)
    named = replace(definition, dlopens={"lib/libx.*": ["libcore.so.1"]})
    assert planned(named, found).rpath == BOTH


def test_a_system_library_that_a_package_has_is_searched_for() -> None:
    definition = replace(PACKAGE, rpath_for="all")
    core = plan(Definition("core", "runtime", "_core"), library("lib/libstdc++.so.6", "libstdc++.so.6"))
    found = needing("lib/libx.so", "libstdc++.so.6", "libc.so.6")
    assert planned(definition, found, builds_on=(core,)).rpath == BOTH
    assert planned(replace(definition, rpath=("_math/lib",)), found).rpath is None


def test_entries_of_the_build_machine_and_the_other_tag_go_where_the_system_serves() -> None:
    definition = replace(PACKAGE, rpath_for="all")
    entry = planned(definition, needing("lib/libx.so", "libc.so.6", rpath=("/build/lib", "$ORIGIN")))
    assert (entry.rpath, entry.treatment) == (("$ORIGIN",), Treatment.PATCH)
    assert planned(definition, needing("lib/libx.so", "libc.so.6", rpath=("/build/lib",))).rpath == ()
    assert planned(definition, needing("lib/libx.so", "libc.so.6", runpath=("$ORIGIN",))).rpath == ("$ORIGIN",)


def test_entries_that_lead_nowhere_are_dropped_and_named() -> None:
    own = ("$ORIGIN/../../gone", "$ORIGIN", "/build/lib", "$ORIGIN/../../../..")
    entry = planned(PACKAGE, needing("lib/libx.so", "libmath.so", rpath=own))
    assert entry.rpath == ("$ORIGIN",)
    assert entry.reason == (
        "library under its SONAME; RPATH extended, without /build/lib of the build machine, without "
        "$ORIGIN/../../gone:$ORIGIN/../../../.., where no package has a file"
    )
    gone = planned(PACKAGE, needing("lib/libx.so", rpath=("$ORIGIN/gone",)))
    assert (gone.rpath, gone.reason.partition(", ")[0]) == ((), "library under its SONAME; RPATH removed")
    default = planned(replace(PACKAGE, rpath_for="all"), needing("lib/libx.so", rpath=("$ORIGIN/gone",)))
    assert default.rpath == ("$ORIGIN/gone", *BOTH)


def test_a_library_that_is_opened_counts_as_needed() -> None:
    definition = replace(PACKAGE, dlopens={"lib/libx.*": ["libcore.so.1"]})
    assert planned(definition, needing("lib/libx.so", "libc.so.6")).rpath == BOTH
    assert planned(definition, needing("lib/liby.so", "libc.so.6")).rpath is None


@pytest.mark.parametrize(
    ("opens", "place"), [({"lib/*": ["libgone.so"]}, "no package"), ({"lib/*": ["libcore.so.1"]}, "_core/lib")]
)
def test_a_library_that_is_opened_must_be_found(opens: Mapping[str, Sequence[str]], place: str) -> None:
    (name,) = opens["lib/*"]
    with pytest.raises(ToolError) as error:
        planned(replace(PACKAGE, rpath=("_math/lib",), dlopens=opens), needing("lib/libx.so"))
    assert str(error.value) == (
        f"package math: dlopens says that lib/* opens {name}, which is in {place}; expected a directory of `rpath`. "
        "Add the directory, or correct the name. If users' machines must have the library, name it in "
        "`requires_external` of the wheel instead"
    )


@pytest.mark.parametrize(
    ("needed", "more"), [("libcore.so.1", ", and needs an RPATH to libcore.so.1"), ("libc.so.6", "")]
)
def test_a_file_that_must_not_be_edited_is_kept(needed: str, more: str) -> None:
    for own in ((), ("/build/lib",), ("$ORIGIN/gone",)):
        definition = replace(PACKAGE, unedited=("lib/libx.*",), rpath_for="all")
        entry = planned(definition, needing("lib/libx.so", needed, rpath=own))
        said = f"library under its SONAME; not edited{more}"
        assert (entry.treatment, entry.rpath, entry.reason) == (Treatment.KEEP, None, said)


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
    assert planned(allowed, needing("lib/libx.so", "libmath.so")).rpath == ("$ORIGIN",)


def test_a_package_without_a_file_lacks_no_directory() -> None:
    empty = plan(Definition("core", "runtime", "_core"))
    assert planned(PACKAGE, needing("lib/libx.so"), builds_on=(empty,)).rpath is None


def test_a_devel_tree_has_what_packages_by_target_have() -> None:
    by_target = plan(Definition("lib_gfx942", "runtime", "_gfx942", per_target=True), library("lib/a.so.1", "a.so.1"))
    devel = Definition("devel", "devel", "_devel", rpath=("_devel/lib",))
    assert plan(devel, builds_on=(by_target,)).entries == ()
