"""Tests of the plan of a plain devel package."""

from dataclasses import replace

import pytest

from develop.testing.artifacts import artifact, directory, file, library, link, plan, program
from lib.common.program import ToolError
from lib.elf import constants as c
from lib.plan.model import Definition, Entry, Facts, Found, Plan, Treatment
from tools.actions.plan.tool import edits_by_unit, make_plan

CORE = Definition("core", "runtime", "_core", rpath=("_core/lib",), allow_unmatched=("_core/lib",))
PLAIN = Definition("devel", "plain", "_devel", rpath=("_devel/lib",), allow_unmatched=("_devel/lib",))
DEVICE = Definition("device_gfx942", "runtime", "_libraries", per_target=True)
CHAIN = (
    library("lib/liba.so.1.2", "liba.so.1"),
    link("lib/liba.so.1", "liba.so.1.2"),
    link("lib/liba.so", "liba.so.1"),
)


def entries(*found: Found, builds_on: tuple[Plan, ...] = (), definition: Definition = PLAIN) -> dict[str, Entry]:
    """Plan a devel package of the artifact that the package below is made from."""
    name = builds_on[0].package if builds_on else "devel"
    planned = plan(definition, *found, builds_on=builds_on, name=f"{name}_lib_generic")
    return {entry.path: entry for entry in planned.entries}


def made(*found: Found, definition: Definition = PLAIN) -> dict[str, Entry]:
    """Plan it of entries that core has, too."""
    return entries(*found, builds_on=(plan(CORE, *found),), definition=definition)


def outcome(entry: Entry) -> tuple[Treatment, str, str | None]:
    return entry.treatment, entry.reason, entry.target


def test_names_for_linkers_are_scripts_and_that_for_the_loader_is_a_forwarder() -> None:
    planned = made(*CHAIN)
    script = (Treatment.LINKER_SCRIPT, "name of liba.so.1, for linkers", "../../_core/lib/liba.so.1")
    assert outcome(planned["lib/liba.so"]) == script
    assert outcome(planned["lib/liba.so.1.2"]) == script
    assert outcome(planned["lib/liba.so.1"]) == (
        Treatment.FORWARDER,
        "library that _core/lib has, for the loader",
        "../../_core/lib/liba.so.1",
    )
    assert [planned[path].mode for path in sorted(planned)] == ["0644", "0755", "0644"]


def test_a_forwarder_has_the_versions_of_the_symbols() -> None:
    facts = CHAIN[0].facts
    assert facts
    versioned = replace(CHAIN[0], facts=replace(facts, versions_defined=("liba.so.1", "A_1", "A_2")))
    forwarder = made(versioned, *CHAIN[1:])["lib/liba.so.1"]
    assert (forwarder.soname, forwarder.machine, forwarder.versions) == ("liba.so.1", c.EM_X86_64, ("A_1", "A_2"))
    assert made(*CHAIN)["lib/liba.so.1"].versions is None


def test_what_only_devel_has_stays_and_its_names_are_made() -> None:
    planned = entries(*CHAIN, file("include/a.h"))
    assert planned["include/a.h"].treatment is Treatment.KEEP
    assert outcome(planned["lib/liba.so.1.2"])[0] is Treatment.PATCH
    assert outcome(planned["lib/liba.so"])[::2] == (Treatment.LINKER_SCRIPT, "liba.so.1.2")
    assert outcome(planned["lib/liba.so.1"])[::2] == (Treatment.FORWARDER, "liba.so.1.2")


def test_the_file_of_a_library_is_copied_for_linkers_unless_it_is_big() -> None:
    """A linker that is given the file needs the symbols, which a forwarder has none of."""
    found = library("lib/liba.so.1", "liba.so.1")
    copy = made(found)["lib/liba.so.1"]
    assert outcome(copy)[:2] == (Treatment.PATCH, "package core has it, too (elf-library); RPATH extended")
    assert copy.rpath == ("$ORIGIN",)
    big = made(found, definition=replace(PLAIN, linked_units=("core_lib_generic/small",)))["lib/liba.so.1"]
    assert outcome(big)[::2] == (Treatment.FORWARDER, "../../_core/lib/liba.so.1")


def test_a_big_library_that_no_forwarder_can_be_made_for_is_left_out() -> None:
    facts = Facts("", 1, "elf-library", "liba.so.1", machine=243, refusal="another CPU")
    found = replace(library("lib/liba.so.1"), facts=facts)
    assert made(found)["lib/liba.so.1"].treatment is Treatment.KEEP
    big = made(found, definition=replace(PLAIN, linked_units=("core_lib_generic/small",)))["lib/liba.so.1"]
    assert outcome(big)[:2] == (Treatment.DROP, "package core has it; no forwarder: another CPU")


def test_a_library_without_soname_is_copied() -> None:
    plugin = (library("lib/plugin.so.1"), link("lib/plugin.so", "plugin.so.1"))
    planned = made(*plugin)
    assert planned["lib/plugin.so.1"].treatment is Treatment.PATCH
    assert planned["lib/plugin.so"].treatment is Treatment.COPY_OF_LINK
    planned = made(*plugin, definition=replace(PLAIN, linked_units=("core_lib_generic/small",)))
    assert outcome(planned["lib/plugin.so"])[::2] == (Treatment.FORWARDER, "../../_core/lib/plugin.so")


def test_programs_and_scripts_are_copied_so_that_they_find_this_prefix() -> None:
    found = (program("bin/clang-22"), link("bin/clang", "clang-22"), file("bin/hipcc", "script", "0755"))
    planned = made(*found)
    assert outcome(planned["bin/clang-22"])[:2] == (
        Treatment.PATCH,
        "package core has it, too (elf-program); RPATH extended",
    )
    assert planned["bin/clang-22"].rpath == ("$ORIGIN/../lib",)
    assert outcome(planned["bin/clang"]) == (Treatment.LAUNCHER, "link to an executable (elf-program)", "clang-22")
    assert (planned["bin/hipcc"].treatment, planned["bin/hipcc"].mode) == (Treatment.KEEP, "0755")


def test_a_big_program_gets_a_launcher_and_big_data_stays_where_it_is() -> None:
    found = (program("bin/big"), link("bin/b", "big"), file("lib/a/kernels.dat"))
    planned = made(*found, definition=replace(PLAIN, linked_units=("core_lib_generic/small",)))
    launcher = (Treatment.LAUNCHER, "big program that another package has", "../../_core/bin/big")
    assert outcome(planned["bin/big"]) == outcome(planned["bin/b"]) == launcher
    assert planned["bin/b"].machine == c.EM_X86_64
    assert outcome(planned["lib/a/kernels.dat"])[:2] == (
        Treatment.DROP,
        "package core has it, where its libraries look for it",
    )


def test_device_code_stays_where_it_is() -> None:
    found = replace(file("lib/a/k.hsaco"), facts=Facts("", 1, "gpu-bundle", device=("gfx942",)))
    assert made(found)["lib/a/k.hsaco"].treatment is Treatment.DROP


def test_what_packages_by_target_add_to_a_shared_tree_stays_there() -> None:
    libraries = plan(Definition("libraries", "runtime", "_libraries"), *CHAIN)
    device = plan(DEVICE, file("lib/a/k.dat"), name="device_lib_gfx942")
    devel = make_plan(
        PLAIN,
        [artifact("libraries_lib_generic", *CHAIN), artifact("device_lib_gfx942", file("lib/a/k.dat"))],
        [libraries, device],
    )
    outcomes = {entry.path: outcome(entry) for entry in devel.entries}
    reason = "package device_gfx942 has it, where its libraries look for it"
    assert outcomes["lib/a/k.dat"] == (Treatment.DROP, reason, None)


def test_libraries_by_target_with_trees_of_their_own_are_refused() -> None:
    by_target = plan(replace(DEVICE, package="libraries_gfx942", tree="_libraries_gfx942"), *CHAIN)
    with pytest.raises(ToolError) as caught:
        entries(*CHAIN, builds_on=(by_target,))
    assert str(caught.value) == (
        "package devel: package libraries_gfx942 is one of several for GPU targets, each with its own tree; "
        "expected the same libraries on every machine, because a plain devel package links to them. Build the layout "
        "`archive` of devel packages, or libraries apart from their device code"
    )


def test_what_may_not_be_started_is_copied() -> None:
    """A launcher of what this package leaves out, or of a program that is not executable, would start nothing."""
    found = (program("bin/clang-22"), link("bin/clang", "clang-22"))
    assert made(*found, definition=replace(PLAIN, exclude=("bin/clang-22",)))["bin/clang"].treatment is (
        Treatment.COPY_OF_LINK
    )
    assert entries(replace(found[0], mode="0644"), found[1])["bin/clang"].mode == "0644"


def test_another_name_of_a_static_library() -> None:
    planned = entries(file("lib/liba.a"), link("lib/libb.a", "liba.a"))
    assert planned["lib/liba.a"].treatment is Treatment.KEEP
    script = (Treatment.LINKER_SCRIPT, "name of a static library, for linkers", "liba.a")
    assert outcome(planned["lib/libb.a"]) == script


def test_directories_and_links_to_them() -> None:
    found = (directory("empty"), directory("share"), file("share/a"), link("also", "share"))
    planned = entries(*found)
    assert sorted(planned) == ["also/a", "empty", "share/a"]
    assert outcome(planned["empty"])[:2] == (Treatment.DROP, "empty directory, which a wheel cannot hold")
    assert outcome(planned["also/a"])[:2] == (Treatment.COPY_OF_LINK, "link to a file (data)")


def test_below_a_link_to_a_directory_are_the_same_files() -> None:
    """Debian's hipcc looks for the compiler below such a link."""
    found = (program("llvm/bin/clang-22"), link("llvm/bin/clang", "clang-22"), link("llvm-22", "llvm"))
    library_ = (library("llvm/lib/liba.so.1.2", "liba.so.1"), link("llvm/lib/liba.so.1", "liba.so.1.2"))
    planned = made(*found, *library_)
    assert {path: outcome(entry)[::2] for path, entry in planned.items() if path.startswith("llvm-22")} == {
        "llvm-22/bin/clang": (Treatment.LAUNCHER, "../../llvm/bin/clang-22"),
        "llvm-22/bin/clang-22": (Treatment.LAUNCHER, "../../llvm/bin/clang-22"),
        "llvm-22/lib/liba.so.1": (Treatment.FORWARDER, "../../../_core/llvm/lib/liba.so.1"),
        "llvm-22/lib/liba.so.1.2": (Treatment.LINKER_SCRIPT, "../../../_core/llvm/lib/liba.so.1"),
    }


def test_links_to_directories_that_would_have_no_end() -> None:
    found = (
        file("a/x"),
        link("a/self", "."),
        link("a/up", ".."),
        file("b/y"),
        link("a/b", "../b"),
        link("b/a", "../a"),
    )
    planned = entries(*found)
    assert {path for path, entry in planned.items() if entry.is_packed_file} == {"a/x", "b/y", "a/b/y", "b/a/x"}
    reason = "link to a directory that it lies in"
    assert [path for path, entry in planned.items() if entry.reason == reason] == ["a/self", "a/up"]


def test_a_link_to_what_no_package_ships() -> None:
    core = plan(replace(CORE, exclude=("lib/**",)), *CHAIN)
    planned = entries(*CHAIN[1:], builds_on=(core,))
    assert {entry.treatment for entry in planned.values()} == {Treatment.DROP}
    assert planned["lib/liba.so"].reason.startswith("link that dangles")


def test_no_entry_is_a_link() -> None:
    links = (link("bin/tool", "../libexec/tool"), link("share/b", "a"), link("lib/dangles", "nothing"))
    planned = made(*CHAIN, *links, program("libexec/tool"), file("share/a"), directory("share"))
    assert not [path for path, entry in planned.items() if entry.treatment in (Treatment.LINK_TO, Treatment.ALIAS_OF)]


def test_what_is_made_is_packed_with_the_small_files() -> None:
    core = plan(CORE, *CHAIN)
    devel = plan(PLAIN, *CHAIN, builds_on=(core,), name="core_lib_generic")
    facts = {one.source: one.facts for one in artifact("core_lib_generic", *CHAIN).found if one.facts}
    edits = edits_by_unit(devel, facts, {"core_lib_generic": "core_lib_generic/small"})
    (unit,) = edits.values()
    assert [(edit.path, edit.made) for edit in unit.entries] == [
        ("lib/liba.so", "linker script"),
        ("lib/liba.so.1", "forwarder"),
        ("lib/liba.so.1.2", "linker script"),
    ]
