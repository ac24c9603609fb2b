"""Tests of what becomes of each entry in a runtime package: docs/reference/packages.md, "What happens to a file"."""

import re
from dataclasses import replace

import pytest

from develop.testing.artifacts import artifact, directory, file, library, link, plan, program
from lib.common.program import ToolError
from lib.elf import constants as c
from lib.plan.model import Definition, Entry, Found, Kind, Plan, Treatment
from tools.actions.plan.tool import make_plan

_OF_CORE = ("_core/lib", "_core/lib/llvm/lib")
_OF_LIBRARIES = ("_libraries/lib", "_core/lib")
CORE = Definition("core", "runtime", "_core", rpath=_OF_CORE, allow_unmatched=_OF_CORE)
LIBRARIES = Definition("libraries", "runtime", "_libraries", rpath=_OF_LIBRARIES, allow_unmatched=_OF_LIBRARIES)


def entries(definition: Definition, *found: Found, builds_on: tuple[Plan, ...] = ()) -> dict[str, Entry]:
    return {entry.path: entry for entry in plan(definition, *found, builds_on=builds_on).entries}


def only(definition: Definition, found: Found) -> Entry:
    return entries(definition, found)[found.path]


def outcome(entry: Entry) -> tuple[Treatment, str, str | None]:
    return entry.treatment, entry.reason, entry.target


def test_library_under_its_soname_is_kept_and_patched() -> None:
    entry = only(CORE, library("lib/liba.so.1", "liba.so.1"))
    assert outcome(entry) == (Treatment.PATCH, "library under its SONAME; RPATH extended", None)
    assert entry.rpath == ("$ORIGIN", "$ORIGIN/llvm/lib")
    assert (entry.type, entry.soname, entry.mode) == ("elf-library", "liba.so.1", "0755")


def test_library_without_soname_is_kept() -> None:
    entry = only(CORE, library("lib/plugin.so"))
    assert outcome(entry) == (Treatment.PATCH, "regular file (elf-library); RPATH extended", None)


def test_soname_chain() -> None:
    planned = entries(
        CORE,
        library("lib/liba.so.1.2", "liba.so.1"),
        link("lib/liba.so.1", "liba.so.1.2"),
        link("lib/liba.so", "liba.so.1"),
    )
    assert outcome(planned["lib/liba.so.1.2"]) == (
        Treatment.ALIAS_OF,
        "library whose name is not its SONAME, liba.so.1",
        "liba.so.1",
    )
    content = planned["lib/liba.so.1"]
    assert outcome(content) == (Treatment.COPY_OF_LINK, "link whose name is the library's SONAME; RPATH extended", None)
    assert (content.source, content.mode) == ("core_lib_generic/stage/lib/liba.so.1.2", "0755")
    assert content.rpath == ("$ORIGIN", "$ORIGIN/llvm/lib")
    assert outcome(planned["lib/liba.so"]) == (
        Treatment.FORWARDER,
        "unversioned name of liba.so.1, which programs open at run time",
        "liba.so.1",
    )


def test_library_that_nothing_provides_under_its_soname_is_kept() -> None:
    planned = entries(CORE, library("lib/libreal.so", "liba.so.1"), link("lib/libother.so", "libreal.so"))
    kept = planned["lib/libreal.so"]
    assert outcome(kept) == (
        Treatment.PATCH,
        "library that nothing provides under its SONAME, liba.so.1; RPATH extended",
        None,
    )
    assert outcome(planned["lib/libother.so"])[::2] == (Treatment.ALIAS_OF, "libreal.so")


def test_a_library_with_other_needs_is_another_build() -> None:
    one = library("lib/liba.so.1.1", "liba.so.1")
    assert one.facts
    other = replace(one, path="lib/liba.so.1.2", facts=replace(one.facts, needed=("libb.so.1",)))
    planned = entries(CORE, one, other, link("lib/liba.so.1", "liba.so.1.1"))
    assert planned["lib/liba.so.1.1"].treatment is Treatment.ALIAS_OF
    assert planned["lib/liba.so.1.2"].treatment is Treatment.PATCH


def test_another_build_of_a_library_is_kept() -> None:
    """Of one SONAME, the loader takes the file of that name; the others are opened by their paths, or are lost."""
    planned = entries(
        CORE,
        library("lib/liba.so.1.1", "liba.so.1", size=1),
        library("lib/liba.so.1.2", "liba.so.1", size=2),
        library("lib/liba_debug.so", "liba.so.1", size=3),
        link("lib/liba.so.1", "liba.so.1.2"),
        link("lib/other", "liba_debug.so"),
    )
    reason = "another library than the one under its SONAME, liba.so.1; RPATH extended"
    for path in ("lib/liba.so.1.1", "lib/liba_debug.so"):
        assert outcome(planned[path]) == (Treatment.PATCH, reason, None)
    assert planned["lib/liba.so.1.2"].treatment is Treatment.ALIAS_OF
    assert planned["lib/liba.so.1"].source.endswith("/lib/liba.so.1.2")
    assert outcome(planned["lib/other"])[::2] == (Treatment.ALIAS_OF, "liba_debug.so")


def test_copies_of_a_library_are_one_once_their_bytes_are_compared() -> None:
    """A tree without links has files in their place."""
    planned = plan(CORE, *(library(f"lib/liba.so{tail}", "liba.so.1") for tail in ("", ".1", ".1.2")))
    assert {entry.path: str(entry.treatment) for entry in planned.entries} == {
        "lib/liba.so": "forwarder",
        "lib/liba.so.1": "patch",
        "lib/liba.so.1.2": "alias of",
    }
    stage = "core_lib_generic/stage/lib/liba.so"
    assert planned.equal_sources == ((f"{stage}.1", stage), (f"{stage}.1", f"{stage}.1.2"))


def test_library_whose_other_names_are_left_out_is_kept() -> None:
    chain = (library("lib/liba.so.1.2", "liba.so.1"), link("lib/liba.so.1", "liba.so.1.2"), link("lib/b", "liba.so.1"))
    for patterns in ({"exclude": ("lib/liba.so.1",)}, {"include": ("lib/liba.so.1.2", "lib/b")}):
        planned = entries(replace(CORE, **patterns), *chain)
        assert outcome(planned["lib/liba.so.1.2"]) == (
            Treatment.PATCH,
            "library that nothing provides under its SONAME, liba.so.1; RPATH extended",
            None,
        )
        assert outcome(planned["lib/b"])[::2] == (Treatment.ALIAS_OF, "liba.so.1.2")
    planned = entries(replace(CORE, include=("lib/b",)), *chain)
    assert outcome(planned["lib/b"]) == (Treatment.DROP, "link to liba.so.1.2, which no package ships", None)


@pytest.mark.parametrize(
    "other",
    [
        [directory("lib/liba.so.1")],
        [file("lib/d/x"), link("lib/liba.so.1", "d")],
        [file("lib/liba.so.1")],
        [library("lib/liba.so.1", "libb.so.1")],
        [library("lib/liba.so.1")],
    ],
    ids=["directory", "link to a directory", "data", "another library", "library without SONAME"],
)
def test_what_is_not_the_library_is_no_alias_of_it(other: list[Found]) -> None:
    planned = entries(CORE, library("lib/liba.so.1.2", "liba.so.1"), *other)
    assert planned["lib/liba.so.1.2"].treatment is Treatment.PATCH


def test_another_build_of_a_library_that_a_package_below_has_is_kept() -> None:
    core = plan(CORE, library("lib/liba.so.1", "liba.so.1"), library("lib/libc.so", "liba.so.1", size=2))
    planned = entries(
        LIBRARIES, library("lib/liba.so.1.2", "liba.so.1"), link("lib/liba", "liba.so.1.2"), builds_on=(core,)
    )
    assert planned["lib/liba.so.1.2"].treatment is Treatment.PATCH
    assert outcome(planned["lib/liba"])[::2] == (Treatment.ALIAS_OF, "liba.so.1.2")
    planned = entries(LIBRARIES, link("lib/liba", "libc.so"), builds_on=(core,))
    assert outcome(planned["lib/liba"])[::2] == (Treatment.ALIAS_OF, "libc.so")


def test_the_same_library_that_a_package_below_has_is_an_alias() -> None:
    """Two packages are made from one artifact, and the second leaves out what the first ships."""
    one = artifact("a_lib_generic", library("lib/liba.so.1.2", "liba.so.1"), link("lib/liba.so.1", "liba.so.1.2"))
    core = make_plan(CORE, [one], [])
    planned = make_plan(replace(LIBRARIES, exclude=("lib/liba.so.1",)), [one], [core])
    (alias,) = [entry for entry in planned.entries if entry.path == "lib/liba.so.1.2"]
    assert outcome(alias)[::2] == (Treatment.ALIAS_OF, "liba.so.1")
    assert planned.equal_sources == ()


def test_alias_in_another_directory_points_there() -> None:
    planned = entries(CORE, library("lib/liba.so.1", "liba.so.1"), link("lib64/liba.so", "../lib/liba.so.1"))
    assert outcome(planned["lib64/liba.so"])[::2] == (Treatment.ALIAS_OF, "../lib/liba.so.1")


def test_copy_under_the_soname_in_another_directory_searches_from_there() -> None:
    planned = entries(CORE, library("lib/x/liba.so.1.2", "liba.so.1"), link("lib64/liba.so.1", "../lib/x/liba.so.1.2"))
    assert planned["lib64/liba.so.1"].treatment is Treatment.COPY_OF_LINK
    assert planned["lib64/liba.so.1"].rpath == ("$ORIGIN/../lib", "$ORIGIN/../lib/llvm/lib")
    assert planned["lib/x/liba.so.1.2"].rpath == ("$ORIGIN/..", "$ORIGIN/../llvm/lib")


def test_link_to_a_library_of_another_package_is_an_alias() -> None:
    core = plan(CORE, library("lib/liba.so.1.2", "liba.so.1"), link("lib/liba.so.1", "liba.so.1.2"))
    planned = entries(
        LIBRARIES, link("lib/liba.so", "liba.so.1"), link("lib/sub/liba.so.1", "../liba.so.1"), builds_on=(core,)
    )
    assert outcome(planned["lib/liba.so"])[::2] == (Treatment.ALIAS_OF, "liba.so.1")
    assert outcome(planned["lib/sub/liba.so.1"]) == (
        Treatment.ALIAS_OF,
        "link to a library that another package has",
        "../liba.so.1",
    )


def test_link_to_a_program_becomes_a_launcher() -> None:
    planned = entries(
        CORE,
        program("lib/llvm/bin/clang-20"),
        link("lib/llvm/bin/clang++", "clang-20"),
        link("llvm", "lib/llvm"),
        link("bin/amdclang", "../llvm/bin/clang++"),
    )
    assert outcome(planned["lib/llvm/bin/clang++"]) == (
        Treatment.LAUNCHER,
        "link to an executable (elf-program)",
        "clang-20",
    )
    assert planned["bin/amdclang"].target == "../lib/llvm/bin/clang-20"
    assert planned["bin/amdclang"].mode == "0755"
    assert planned["bin/amdclang"].rpath is None


def test_link_to_a_script_becomes_a_launcher_only_if_it_can_be_run() -> None:
    planned = entries(
        CORE,
        file("bin/hipcc.pl", "script", "0755"),
        link("bin/hipcc", "hipcc.pl"),
        file("share/lib.sh", "script", "0644"),
        link("share/other.sh", "lib.sh"),
    )
    assert outcome(planned["bin/hipcc"]) == (Treatment.LAUNCHER, "link to an executable (script)", "hipcc.pl")
    assert outcome(planned["share/other.sh"]) == (Treatment.COPY_OF_LINK, "link to a file (script)", None)


def test_link_to_a_python_module_is_copied_though_it_may_be_executed() -> None:
    planned = entries(
        CORE,
        file("libexec/smi/bindings.py", "script", "0755"),
        link("lib/python3/dist-packages/bindings.py", "../../../libexec/smi/bindings.py"),
        link("bin/smi", "../libexec/smi/bindings.py"),
    )
    module = planned["lib/python3/dist-packages/bindings.py"]
    assert outcome(module) == (Treatment.COPY_OF_LINK, "link to a file (script)", None)
    assert outcome(planned["bin/smi"])[0] is Treatment.LAUNCHER


def test_launcher_into_another_package_goes_by_way_of_site_packages() -> None:
    core = plan(CORE, program("bin/tool"), file("bin/script", "script", "0755"))
    planned = entries(LIBRARIES, link("bin/mine", "tool"), link("libexec/x", "../bin/script"), builds_on=(core,))
    assert outcome(planned["bin/mine"])[::2] == (Treatment.LAUNCHER, "../../_core/bin/tool")
    assert outcome(planned["libexec/x"])[::2] == (Treatment.LAUNCHER, "../../_core/bin/script")


def test_launcher_to_a_program_that_may_not_be_executed_is_an_error() -> None:
    unmarked = replace(program("bin/tool-1"), mode="0644")
    with pytest.raises(ToolError) as error:
        plan(CORE, unmarked, link("bin/tool", "tool-1"))
    assert str(error.value) == (
        "core_lib_generic/stage/bin/tool: the link leads to the program bin/tool-1, which is not executable (mode "
        "0644); expected mode 0755, for a launcher has to start it. Set the mode in the artifact, or exclude bin/tool "
        "from package core"
    )
    with pytest.raises(
        ToolError, match=r"^libraries_.*the program bin/tool-1, which is not .* from package libraries$"
    ):
        plan(LIBRARIES, link("bin/tool", "tool-1"), builds_on=(plan(CORE, unmarked),))
    # What the package has itself is what its launcher starts, whatever another has in the same tree.
    other = plan(replace(CORE, package="other"), unmarked)
    with pytest.raises(
        ToolError, match=r"^bin/tool-1: from .* but package other has this path already; expected one owner"
    ):
        plan(CORE, program("bin/tool-1"), link("bin/tool", "tool-1"), builds_on=(other,))
    debug = link("lib/debug/x", "tool-1.debug"), file("lib/debug/tool-1.debug", "elf-debug")
    assert entries(CORE, *debug)["lib/debug/x"].treatment is Treatment.COPY_OF_LINK


@pytest.mark.parametrize(("path", "its"), [("share/a/b", "share/a"), ("share/a", "share/a/b")])
def test_packages_of_one_tree_have_no_file_where_the_other_has_a_directory(path: str, its: str) -> None:
    other = plan(replace(CORE, package="other"), file(its, "data"))
    with pytest.raises(ToolError, match=f"^{path}: from .* but package other has {its}, and a file is no directory"):
        plan(CORE, file(path, "data"), builds_on=(other,))
    assert plan(replace(CORE, tree="_else"), file(path, "data"), builds_on=(other,))


def on(machine: int, found: Found) -> Found:
    """Make the same ELF file for another CPU."""
    assert found.facts
    return replace(found, facts=replace(found.facts, machine=machine))


def test_launcher_is_for_the_cpu_of_what_it_starts() -> None:
    script, runs = file("bin/s", "script", "0755"), link("bin/t", "s")
    aarch64 = on(c.EM_AARCH64, program("bin/a"))
    core = plan(CORE, aarch64, link("bin/b", "a"), program("bin/c"), link("bin/d", "c"), script, runs)
    machines = {entry.path: entry.machine for entry in core.entries}
    assert {path: machines[path] for path in ("bin/a", "bin/b", "bin/c", "bin/d")} == {
        "bin/a": c.EM_AARCH64,
        "bin/b": c.EM_AARCH64,
        "bin/c": c.EM_X86_64,
        "bin/d": c.EM_X86_64,
    }
    assert (machines["bin/s"], machines["bin/t"]) == (None, None)
    planned = entries(LIBRARIES, link("bin/x", "a"), link("bin/y", "s"), builds_on=(core,))
    assert (planned["bin/x"].machine, planned["bin/y"].machine) == (c.EM_AARCH64, None)


def test_launcher_of_a_script_is_for_the_cpu_of_the_package() -> None:
    script = [file("bin/s", "script", "0755"), link("bin/t", "s")]
    core = plan(CORE, on(c.EM_AARCH64, library("lib/liba.so")), *script, file("x.hsaco", "gpu-code-object"))
    assert {entry.path: entry.machine for entry in core.entries}["bin/t"] == c.EM_AARCH64
    texts = plan(Definition("texts", "runtime", "_texts"), file("share/a"))
    planned = entries(LIBRARIES, file("bin/v", "script", "0755"), link("bin/u", "v"), builds_on=(texts, core))
    assert planned["bin/u"].machine == c.EM_AARCH64
    assert entries(CORE, *script)["bin/t"].machine is None


def test_programs_that_no_launcher_can_start_are_data() -> None:
    """Firmware is ELF, too; a script does not run on its CPU."""
    arm = 40
    firmware = on(arm, program("fw/a-1"))
    script = [file("bin/s", "script", "0755"), link("bin/t", "s")]
    planned = entries(CORE, firmware, link("fw/a", "a-1"), *script)
    assert outcome(planned["fw/a"])[0] is Treatment.COPY_OF_LINK
    assert planned["bin/t"].machine is None
    assert entries(CORE, firmware, library("lib/liba.so"), *script)["bin/t"].machine == c.EM_X86_64


def test_launcher_whose_target_is_excluded_is_dropped() -> None:
    definition = replace(CORE, exclude=("bin/clang-20",))
    planned = entries(definition, program("bin/clang-20"), link("bin/clang", "clang-20"))
    assert outcome(planned["bin/clang-20"]) == (Treatment.DROP, "excluded by bin/clang-20", None)
    assert outcome(planned["bin/clang"]) == (Treatment.DROP, "link to clang-20, which no package ships", None)
    assert not planned["bin/clang"].is_packed_file
    unmarked = replace(program("bin/clang-20"), mode="0644")
    assert entries(definition, unmarked, link("bin/clang", "clang-20"))["bin/clang"].treatment is Treatment.DROP


def test_link_to_data_is_copied_with_mode_and_content() -> None:
    planned = entries(CORE, file("share/a", mode="0444"), link("share/b", "a"), link("share/c", "b"))
    for path in ("share/b", "share/c"):
        assert outcome(planned[path]) == (Treatment.COPY_OF_LINK, "link to a file (data)", None)
        assert (planned[path].source, planned[path].mode) == ("core_lib_generic/stage/share/a", "0444")


def test_link_to_data_of_another_package_is_an_error() -> None:
    core = plan(CORE, file("share/a"))
    with pytest.raises(ToolError) as error:
        plan(LIBRARIES, link("share/b", "a"), builds_on=(core,))
    assert str(error.value) == (
        "libraries_lib_generic/stage/share/b: the link leads to share/a, which package core holds; expected a target "
        "whose content can be copied. Exclude share/b from the package, or add the artifact of its target"
    )


def test_what_a_wheel_cannot_hold_is_dropped() -> None:
    planned = entries(
        CORE,
        directory("lib"),
        file("lib/a"),
        directory("empty"),
        link("lib64", "lib"),
        link("x", "nowhere"),
        link("l", "l"),
    )
    assert "lib" not in planned
    reasons = {path: planned[path].reason for path in ("empty", "lib64", "x", "l")}
    assert reasons == {
        "empty": "empty directory, which a wheel cannot hold",
        "lib64": "link to a directory, which a wheel cannot hold",
        "x": "link that dangles: nowhere",
        "l": "link that dangles: l",
    }
    assert {planned[path].treatment for path in reasons} == {Treatment.DROP}


@pytest.mark.parametrize("type_", ["data", "script", "gpu-code-object", "elf-object", "elf-core"])
def test_other_files_are_kept_as_they_are(type_: str) -> None:
    found = file("share/f", type_, "0555")
    found = replace(found, facts=replace(found.facts, dynamic=True)) if found.facts else found
    entry = only(CORE, found)
    assert outcome(entry) == (Treatment.KEEP, f"regular file ({type_})", None)
    assert (entry.rpath, entry.mode) == (None, "0555")


def test_plan_says_why_a_file_gets_no_rpath() -> None:
    static = program("bin/x", dynamic=False)
    assert static.facts
    found = replace(static, facts=replace(static.facts, refusal="there is no dynamic section"))
    entry = only(CORE, found)
    assert outcome(entry) == (Treatment.KEEP, "regular file (elf-program); no RPATH: there is no dynamic section", None)
    assert entry.rpath is None


def test_static_program_is_kept_as_it_is() -> None:
    assert outcome(only(CORE, program("bin/x", dynamic=False)))[0] is Treatment.KEEP


def test_rpath_is_appended_as_rpath_and_crosses_trees() -> None:
    found = library("lib/sub/libb.so", rpath=("$ORIGIN/../../lib", "$ORIGIN/x"))
    entry = entries(LIBRARIES, found, builds_on=(plan(CORE),))["lib/sub/libb.so"]
    assert entry.rpath == ("$ORIGIN/../../lib", "$ORIGIN/x", "$ORIGIN/..", "$ORIGIN/../../../_core/lib")


def test_runpath_is_what_counts_and_becomes_rpath() -> None:
    entry = only(CORE, library("lib/libb.so", rpath=("$ORIGIN/ignored",), runpath=("$ORIGIN", "$ORIGIN/llvm/lib")))
    assert outcome(entry)[0] is Treatment.PATCH
    assert entry.rpath == ("$ORIGIN", "$ORIGIN/llvm/lib")


def test_file_that_has_the_rpath_is_not_touched() -> None:
    entry = only(CORE, library("lib/libb.so", rpath=("$ORIGIN", "$ORIGIN/llvm/lib")))
    assert (entry.treatment, entry.rpath) == (Treatment.KEEP, None)


def test_an_empty_runpath_hides_an_rpath_that_is_as_wished() -> None:
    entry = only(CORE, library("lib/libb.so", rpath=("$ORIGIN", "$ORIGIN/llvm/lib"), runpath=("",)))
    assert (entry.treatment, entry.rpath) == (Treatment.PATCH, ("$ORIGIN", "$ORIGIN/llvm/lib"))


def test_entries_of_the_build_machine_are_named_in_the_reason() -> None:
    entry = only(CORE, library("lib/libb.so", runpath=("/build/lib", "", "$ORIGIN")))
    assert entry.rpath == ("$ORIGIN", "$ORIGIN/llvm/lib")
    assert entry.reason == "regular file (elf-library); RPATH extended, without /build/lib:(empty) of the build machine"


def test_package_without_rpath_only_loses_entries_of_the_build_machine() -> None:
    bare = replace(CORE, rpath=())
    assert only(bare, library("lib/a.so")).rpath is None
    entry = only(bare, library("lib/a.so", rpath=("/build/lib",)))
    assert (entry.treatment, entry.rpath) == (Treatment.PATCH, ())


def test_include_and_exclude() -> None:
    definition = replace(CORE, include=("lib/**", "bin/**"), exclude=("**/cmake/**",))
    planned = entries(definition, file("lib/a"), file("share/a"), file("lib/cmake/a.cmake"), link("bin/dangles", "x"))
    assert {path: entry.reason for path, entry in planned.items()} == {
        "bin/dangles": "link that dangles: x",
        "lib/a": "regular file (data)",
        "lib/cmake/a.cmake": "excluded by **/cmake/**",
        "share/a": "not among the paths of this package",
    }


def test_one_path_in_two_packages_is_an_error() -> None:
    core = plan(CORE, file("share/a"))
    with pytest.raises(ToolError) as error:
        plan(LIBRARIES, file("share/a"), builds_on=(core,))
    assert str(error.value) == (
        "share/a: from libraries_lib_generic/stage/share/a, but package core has this path already; expected one "
        "owner. Exclude it from libraries, or remove it from one of the artifacts"
    )
    excluding = replace(LIBRARIES, exclude=("share/a",))
    assert plan(excluding, file("share/a"), builds_on=(core,)).entries[0].treatment is Treatment.DROP


def test_file_that_was_not_inspected_is_an_error() -> None:
    with pytest.raises(ToolError, match=r"core_lib_generic/stage/a: no facts about this file; expected `inspect`"):
        plan(CORE, Found("a", Kind.FILE, ""))


def damaged(path: str) -> Found:
    """Make an ELF file that inspect could not read."""
    found = file(path, "elf-damaged", "0755")
    assert found.facts
    return replace(found, facts=replace(found.facts, damage=f"{path}: at file offset 0x40: truncated"))


def test_damaged_elf_file_stops_the_package_that_packs_it() -> None:
    with pytest.raises(ToolError) as error:
        plan(CORE, damaged("lib/liba.so.1"))
    assert str(error.value) == (
        "lib/liba.so.1: at file offset 0x40: truncated. The file is damaged or cut off: build the artifact again, "
        "or exclude lib/liba.so.1 from package core"
    )
    excluding = replace(CORE, exclude=("lib/liba.so.1",))
    with pytest.raises(ToolError, match=r"or exclude bin/a from package core$"):
        plan(excluding, damaged("lib/liba.so.1"), link("bin/a", "../lib/liba.so.1"))
    assert only(excluding, damaged("lib/liba.so.1")).treatment is Treatment.DROP


def test_a_file_that_is_only_called_like_a_library_stops_the_package_that_packs_it() -> None:
    found = file("lib/liba.so.1")
    assert found.facts
    empty = replace(found, facts=replace(found.facts, damage="lib/liba.so.1: an empty file; expected a library"))
    message = "an empty file; expected a library. Put the file there, or exclude lib/liba.so.1 from package core"
    with pytest.raises(ToolError, match=re.escape(message)):
        plan(CORE, empty)
    assert only(replace(CORE, exclude=("lib/**",)), empty).treatment is Treatment.DROP


def test_equal_duplicates_are_compared_only_where_they_are_used() -> None:
    artifacts = [artifact(name, file("a"), file("b")) for name in ("x_lib_generic", "y_lib_generic")]
    planned = make_plan(replace(CORE, exclude=("b",)), artifacts, [])
    assert planned.equal_sources == (("x_lib_generic/stage/a", "y_lib_generic/stage/a"),)


def test_unknown_kind_of_package() -> None:
    with pytest.raises(ToolError, match=r"package kind 'other': expected one of devel, runtime"):
        make_plan(replace(CORE, kind="other"), [], [])
