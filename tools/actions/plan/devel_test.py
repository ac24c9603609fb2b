"""Tests of the devel package's plan."""

from dataclasses import replace

import pytest

from develop.testing.artifacts import artifact, directory, file, library, link, plan, program
from lib.common.program import ToolError
from lib.plan.model import Definition, Entry, Found, Plan, Slice, Treatment
from tools.actions.plan.tool import make_plan

CORE = Definition("core", "runtime", "_core", rpath=("_core/lib",), allow_unmatched=("_core/lib",))
DEVEL = Definition("devel", "devel", "_devel", rpath=("_devel/lib",), allow_unmatched=("_devel/lib",))
DEVICE = Definition("device_gfx942", "runtime", "_libraries", per_target=True)

CHAIN = (
    library("lib/liba.so.1.2", "liba.so.1"),
    link("lib/liba.so.1", "liba.so.1.2"),
    link("lib/liba.so", "liba.so.1"),
)


def entries(*found: Found, builds_on: tuple[Plan, ...] = (), definition: Definition = DEVEL) -> dict[str, Entry]:
    """Plan devel of the artifact that the package below is made from."""
    name = builds_on[0].package if builds_on else "devel"
    planned = plan(definition, *found, builds_on=builds_on, name=f"{name}_lib_generic")
    return {entry.path: entry for entry in planned.entries}


def outcome(entry: Entry) -> tuple[Treatment, str, str | None]:
    return entry.treatment, entry.reason, entry.target


def test_what_a_runtime_package_has_becomes_a_link_to_it() -> None:
    core = plan(CORE, *CHAIN, program("lib/llvm/bin/clang-20"))
    planned = entries(*CHAIN, program("lib/llvm/bin/clang-20"), builds_on=(core,))
    assert outcome(planned["lib/liba.so.1"]) == (Treatment.LINK_TO, "package core has it", "../../_core/lib/liba.so.1")
    assert planned["lib/llvm/bin/clang-20"].target == "../../../../_core/lib/llvm/bin/clang-20"
    assert not any(entry.is_packed_file for entry in planned.values())


def test_aliases_come_back() -> None:
    core = plan(CORE, *CHAIN)
    planned = entries(*CHAIN, builds_on=(core,))
    assert outcome(planned["lib/liba.so.1.2"]) == (
        Treatment.LINK_TO,
        "alias of the library's SONAME, liba.so.1",
        "liba.so.1",
    )
    assert outcome(planned["lib/liba.so"]) == (Treatment.LINK_TO, "link, kept", "liba.so.1")


def test_no_link_goes_in_a_circle_where_a_name_is_left_out() -> None:
    core = plan(replace(CORE, exclude=("lib/liba.so.1",)), *CHAIN)
    planned = entries(*CHAIN, builds_on=(core,))
    assert planned["lib/liba.so.1.2"].target == "../../_core/lib/liba.so.1.2"
    assert planned["lib/liba.so.1"].target == "liba.so.1.2"


def test_a_link_to_the_prefix_itself_by_way_of_one_that_is_left_out() -> None:
    links = (link("bin/up", ".."), link("bin/top", "up"), file("share/a"))
    planned = entries(*links, definition=replace(DEVEL, exclude=("bin/up",)))
    assert outcome(planned["bin/top"]) == (Treatment.LINK_TO, "link to ..", "..")


def test_an_alias_whose_name_is_not_here_leads_to_the_package() -> None:
    core = plan(CORE, *CHAIN)
    planned = entries(CHAIN[0], builds_on=(core,))
    assert outcome(planned["lib/liba.so.1.2"]) == (
        Treatment.LINK_TO,
        "alias of the library's SONAME, liba.so.1",
        "../../_core/lib/liba.so.1",
    )
    planned = entries(*CHAIN, builds_on=(core,), definition=replace(DEVEL, exclude=("lib/liba.so.1",)))
    assert planned["lib/liba.so.1.2"].target == "../../_core/lib/liba.so.1"
    copies = [library(f"lib/liba.so.1{tail}", "liba.so.1") for tail in ("", ".2")]
    planned = entries(*CHAIN, builds_on=(plan(CORE, *copies),))
    assert planned["lib/liba.so.1.2"].target == "../../_core/lib/liba.so.1"


def test_other_files_than_the_packages_are_held_here() -> None:
    """Another artifact's file is not the package's because it has the same path: nobody compared the two."""
    others = (library("lib/liba.so", "liba.so"), file("share/a", size=2), library("lib/liba.so.1", "liba.so.1"))
    core = plan(CORE, library("lib/liba.so.1", "liba.so.1"), file("share/a"))
    planned = {entry.path: entry for entry in make_plan(DEVEL, [artifact("c_dev_x", *others)], [core]).entries}
    assert {path: str(entry.treatment) for path, entry in planned.items()} == {
        "lib/liba.so": "patch",
        "lib/liba.so.1": "patch",
        "share/a": "keep",
    }
    linked = make_plan(DEVEL, [artifact("c_dev_x", link("lib/liba.so.1", "b"), library("lib/b", "liba.so.1"))], [core])
    assert [entry.target for entry in linked.entries] == [None, "b"]


def test_equal_files_are_the_packages_if_someone_compares_them() -> None:
    one, two = (artifact(name, *CHAIN, file("share/a")) for name in ("a_lib_x", "b_lib_x"))
    targets = ["../../_core/lib/liba.so.1", "liba.so.1", "../../_core/share/a"]
    pair = ("a_lib_x/stage/share/a", "b_lib_x/stage/share/a")
    core, devel = make_plan(CORE, [one, two], []), (DEVEL, [two])
    assert pair in core.equal_sources
    assert [entry.target for entry in make_plan(*devel, [core]).entries if entry.path != "lib/liba.so"] == targets
    devel_too = make_plan(DEVEL, [one, two], [make_plan(CORE, [two], [])])
    assert pair in devel_too.equal_sources
    assert [entry.target for entry in devel_too.entries if entry.path != "lib/liba.so"] == targets


def test_a_link_whose_target_is_not_here_leads_to_the_package() -> None:
    """It would lead nowhere once the tree is unpacked."""
    core = plan(CORE, *CHAIN, file("share/a"))
    planned = entries(link("lib/c", "liba.so.1.2"), link("lib/d", "c"), link("b", "share/a"), builds_on=(core,))
    assert {path: entry.target for path, entry in planned.items()} == {
        "b": "../_core/share/a",
        "lib/c": "../../_core/lib/liba.so.1",
        "lib/d": "../../_core/lib/liba.so.1",
    }
    assert planned["b"].reason == "link to share/a, which package core has"


def test_a_link_whose_target_is_a_forwarder_in_the_package_leads_to_the_library() -> None:
    """Who links or reads a library gets its symbols, not what stands for them at run time."""
    found = (
        library("lib/liba.so.1", "liba.so.1"),
        library("lib/liba.so", "liba.so.1"),
        link("lib/liba.so.2", "liba.so"),
    )
    core = plan(CORE, *found)
    assert {entry.path: entry.treatment for entry in core.entries}["lib/liba.so"] is Treatment.FORWARDER
    for excluded, target in (
        (("lib/*.so",), "liba.so.1"),
        (("lib/*.so", "lib/liba.so.1"), "../../_core/lib/liba.so.1"),
    ):
        planned = entries(*found, builds_on=(core,), definition=replace(DEVEL, exclude=excluded))
        assert planned["lib/liba.so.2"].target == target
    per_target = plan(replace(CORE, per_target=True), *found)
    planned = entries(*found, builds_on=(per_target,), definition=replace(DEVEL, exclude=("lib/*.so",)))
    assert planned["lib/liba.so.2"].target == "liba.so.1"


def test_a_link_by_way_of_one_that_is_left_out_is_shortened() -> None:
    found = (file("share/a"), link("share/b", "a"), link("c", "share/b"), link("d", "lib"), file("lib/x"))
    planned = entries(*found, definition=replace(DEVEL, exclude=("share/b",)))
    assert outcome(planned["c"]) == (Treatment.LINK_TO, "link to share/a", "share/a")
    planned = entries(*found, definition=replace(DEVEL, exclude=("share/a", "lib/**")))
    for path, text in (("c", "share/a"), ("share/b", "a"), ("d", "lib")):
        assert outcome(planned[path]) == (Treatment.DROP, f"link to {text}, which no package ships", None)


def test_links_stay_links() -> None:
    core = plan(CORE, program("bin/clang-20"), link("bin/clang", "clang-20"), file("share/a"), link("share/b", "a"))
    planned = entries(
        program("bin/clang-20"),
        link("bin/clang", "clang-20"),
        file("share/a"),
        link("share/b", "a"),
        library("lib/libdev.so"),
        link("lib64", "lib"),
        builds_on=(core,),
    )
    kept = {path: planned[path].target for path in ("bin/clang", "share/b", "lib64")}
    assert kept == {"bin/clang": "clang-20", "share/b": "a", "lib64": "lib"}
    assert {planned[path].reason for path in kept} == {"link, kept"}


def test_own_files_are_kept_with_their_modes() -> None:
    planned = entries(file("include/a.h", mode="0444"), directory("empty", "0700"), library("lib/libdev.so"))
    assert outcome(planned["include/a.h"]) == (Treatment.KEEP, "no runtime package has it (data)", None)
    assert planned["include/a.h"].mode == "0444"
    assert outcome(planned["empty"]) == (Treatment.DROP, "empty directory, which a wheel cannot hold", None)
    assert planned["lib/libdev.so"].treatment is Treatment.PATCH
    assert planned["lib/libdev.so"].rpath == ("$ORIGIN",)


def test_what_is_executable_only_here_is_held_here() -> None:
    """A link to the runtime package's file could not be run."""
    core = plan(CORE, file("bin/a", "script"), file("bin/b", "script", "0755"))
    planned = entries(file("bin/a", "script", "0755"), file("bin/b", "script"), builds_on=(core,))
    assert outcome(planned["bin/a"]) == (Treatment.KEEP, "package core has it, but not as an executable", None)
    assert planned["bin/a"].mode == "0755"
    assert outcome(planned["bin/b"]) == (Treatment.LINK_TO, "package core has it", "../../_core/bin/b")


def test_a_link_to_what_is_executable_only_here_stays_a_link() -> None:
    """The copy that a runtime package has in its place could not be run."""
    run, there = library("lib/a"), link("lib/b", "a")
    core = plan(CORE, replace(run, mode="0644"), there)
    (copy,) = (entry for entry in core.entries if entry.path == "lib/b")
    assert copy.treatment is Treatment.COPY_OF_LINK
    planned = entries(run, there, builds_on=(core,))
    assert (planned["lib/a"].treatment, planned["lib/a"].mode) == (Treatment.PATCH, "0755")
    assert outcome(planned["lib/b"]) == (Treatment.LINK_TO, "link, kept", "a")


def test_what_a_runtime_package_drops_is_here() -> None:
    core = plan(replace(CORE, exclude=("**/cmake/**",)), file("lib/cmake/a.cmake"))
    planned = entries(file("lib/cmake/a.cmake"), builds_on=(core,))
    assert planned["lib/cmake/a.cmake"].treatment is Treatment.KEEP


def test_dangling_link_is_dropped() -> None:
    planned = entries(link("lib/x", "nowhere"), link("lib/y", "x"))
    assert outcome(planned["lib/x"]) == (Treatment.DROP, "link that dangles: nowhere", None)
    assert planned["lib/y"].treatment is Treatment.DROP


def test_files_of_packages_per_target_are_left_out() -> None:
    device = plan(DEVICE, file("lib/kernels.co"))
    family = Definition("libraries_gfx94X", "runtime", "_libraries_gfx94X", per_target=True)
    chain = plan(family, *CHAIN)
    planned = entries(file("lib/kernels.co"), *CHAIN, builds_on=(device, chain))
    assert outcome(planned["lib/kernels.co"]) == (Treatment.DROP, "linked to device_gfx942, if that is installed", None)
    assert planned["lib/liba.so.1"].treatment is Treatment.DROP
    assert planned["lib/liba.so"].target == "liba.so.1"
    assert planned["lib/liba.so.1.2"].target == "liba.so.1"


def test_families_may_have_the_same_paths() -> None:
    families = tuple(
        plan(Definition(f"libraries_{name}", "runtime", f"_libraries_{name}", per_target=True), *CHAIN)
        for name in ("gfx94X", "gfx110X")
    )
    assert entries(*CHAIN, builds_on=families)["lib/liba.so.1"].treatment is Treatment.DROP


@pytest.mark.parametrize(
    "other",
    [replace(DEVICE, package="device_gfx1100"), replace(CORE, package="libraries", tree="_libraries", rpath=())],
)
def test_packages_that_are_installed_together_may_not(other: Definition) -> None:
    plans = (plan(DEVICE, file("lib/a")), plan(other, file("lib/a")))
    with pytest.raises(ToolError) as error:
        entries(builds_on=plans)
    assert str(error.value) == (
        f"lib/a: package device_gfx942 has it from device_gfx942_lib_generic/stage/lib/a, and package {other.package} "
        f"from {other.package}_lib_generic/stage/lib/a; expected one owner. Exclude it from one of the packages"
    )


def test_owner_of_the_bytes_counts_not_that_of_an_alias() -> None:
    core = plan(CORE, *CHAIN)
    libraries = replace(CORE, package="libraries", tree="_libraries", rpath=())
    other = plan(libraries, file("lib/liba.so.1.2"), name="core_lib_generic")
    for order in ((core, other), (other, core)):
        (entry,) = plan(DEVEL, file("lib/liba.so.1.2"), builds_on=order, name="core_lib_generic").entries
        assert entry.target == "../../_libraries/lib/liba.so.1.2"


def test_forwarders_are_links_here() -> None:
    core = plan(CORE, *CHAIN, library("lib/libb.so", "libb.so.1"), link("lib/libb.so.1", "libb.so"))
    assert {entry.path for entry in core.entries if entry.treatment is Treatment.FORWARDER} == {
        "lib/liba.so",
        "lib/libb.so",
    }
    planned = entries(*CHAIN, library("lib/libb.so", "libb.so.1"), link("lib/libb.so.1", "libb.so"), builds_on=(core,))
    assert outcome(planned["lib/liba.so"]) == (Treatment.LINK_TO, "link, kept", "liba.so.1")
    assert outcome(planned["lib/libb.so"]) == (
        Treatment.LINK_TO,
        "alias of the library's SONAME, libb.so.1",
        "libb.so.1",
    )
    assert planned["lib/libb.so.1"].target == "../../_core/lib/libb.so.1"


def test_a_file_is_here_where_a_package_per_target_has_a_forwarder() -> None:
    """That is not linked to when the tree is unpacked: the file was nowhere."""
    definition = Definition("libraries_gfx942", "runtime", "_libraries_gfx942", per_target=True)
    libraries = plan(definition, library("lib/libx.so.1", "libx.so.1"))
    assert {one.path for one in libraries.entries if one.treatment is Treatment.FORWARDER} == {"lib/libx.so"}
    found = entries(library("lib/libx.so.1", "libx.so.1"), file("lib/libx.so"), builds_on=(libraries,))
    assert found["lib/libx.so"].treatment is Treatment.KEEP
    assert found["lib/libx.so.1"].treatment is Treatment.DROP


def test_a_file_of_one_package_per_target_counts_where_another_has_a_forwarder() -> None:
    one = Definition("libraries_gfx90a", "runtime", "_libraries_gfx90a", per_target=True)
    other = Definition("libraries_gfx942", "runtime", "_libraries_gfx942", per_target=True)
    here = (library("lib/libx.so.1", "libx.so.1"), file("lib/libx.so"))
    for plans in (order := (plan(one, here[0]), plan(other, *here))), order[::-1]:
        assert outcome(entries(*here, builds_on=plans)["lib/libx.so"]) == (
            Treatment.DROP,
            "linked to libraries_gfx942, if that is installed",
            None,
        )


def test_forwarder_that_stands_for_no_artifacts_name_is_not_here() -> None:
    core = plan(CORE, library("lib/liba.so.1", "liba.so.1"))
    planned = entries(library("lib/liba.so.1", "liba.so.1"), link("lib/libb.so", "liba.so"), builds_on=(core,))
    assert "lib/liba.so" not in planned
    assert outcome(planned["lib/libb.so"]) == (Treatment.DROP, "link that dangles: liba.so", None)


def test_two_packages_of_one_tree_may_not_have_a_forwarder_at_one_path() -> None:
    plans = [
        plan(replace(DEVICE, package=f"device_{number}"), library(f"lib/liba.so.{number}", f"liba.so.{number}"))
        for number in (1, 2)
    ]
    with pytest.raises(ToolError, match=r"^lib/liba\.so: package device_1 has it from .*expected one owner"):
        entries(builds_on=tuple(plans))


def test_include_and_exclude() -> None:
    definition = replace(DEVEL, include=("include/**",), exclude=("**/*.cpp",))
    planned = entries(file("include/a.h"), file("include/a.cpp"), file("lib/a"), definition=definition)
    assert {path: entry.reason for path, entry in planned.items() if entry.treatment is Treatment.DROP} == {
        "include/a.cpp": "excluded by **/*.cpp",
        "lib/a": "not among the paths of this package",
    }


def test_damaged_elf_file_is_an_error_unless_it_is_excluded() -> None:
    found = file("lib/liba.so", "elf-damaged")
    assert found.facts
    found = replace(found, facts=replace(found.facts, damage="lib/liba.so: truncated"))
    with pytest.raises(ToolError, match=r"^lib/liba\.so: truncated\. .*, or exclude lib/liba\.so from package devel$"):
        entries(found)
    excluding = replace(DEVEL, exclude=("lib/**",))
    assert entries(found, definition=excluding)["lib/liba.so"].treatment is Treatment.DROP


def test_damaged_file_for_a_target_that_no_package_is_for_is_left_out() -> None:
    found = [file("lib/gfx906/libk.so.1", "elf-damaged"), file("lib/libk.so.1")]
    assert found[0].facts
    found[0] = replace(found[0], facts=replace(found[0].facts, damage="lib/gfx906/libk.so.1: truncated"))
    declared = [Slice((target,), ("gfx1030", "gfx90a"), left_out=("gfx906",)) for target in ("gfx1030", "gfx90a")]
    thin = [
        Definition(f"libraries_{one.targets[0]}", "runtime", f"_{one.targets[0]}", per_target=True, slice=one)
        for one in declared
    ]
    planned = entries(*found, builds_on=tuple(plan(one, *found, name="libraries_lib_generic") for one in thin))
    reason = "for a GPU target that no package is for"
    assert outcome(planned["lib/gfx906/libk.so.1"]) == (Treatment.DROP, reason, None)
    with pytest.raises(ToolError, match=r"^lib/gfx906/libk\.so\.1: truncated\. .* from package devel$"):
        entries(*found, builds_on=tuple(plan(one, found[1], name="libraries_lib_generic") for one in thin))


def test_file_that_was_not_inspected_is_an_error() -> None:
    found = replace(file("a"), facts=None)
    with pytest.raises(ToolError, match="no facts about this file"):
        entries(found)
