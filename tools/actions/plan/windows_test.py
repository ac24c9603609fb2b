"""Tests of plans for Windows: DLLs, launchers, and names that NTFS cannot hold or tell apart."""

from dataclasses import replace

import pytest

from develop.testing.artifacts import artifact, directory, file, image, link
from lib.common.program import ToolError
from lib.pe.constants import IMAGE_FILE_MACHINE_AMD64 as AMD64
from lib.pe.constants import IMAGE_SUBSYSTEM_WINDOWS_GUI as GUI
from lib.plan.model import PE_LIBRARY, PE_PROGRAM, Definition, Entry, Facts, Found, Plan, Treatment
from lib.plan.windows_names import LONGEST_PATH
from tools.actions.plan.tool import edits_by_unit, make_plan

CORE = Definition("core", "runtime", "_core", platform="windows")


def planned(*found: Found, definition: Definition = CORE, builds_on: tuple[Plan, ...] = ()) -> Plan:
    return make_plan(definition, [artifact("core_lib_generic", *found)], list(builds_on))


def by_path(plan: Plan) -> dict[str, Entry]:
    return {entry.path: entry for entry in plan.entries}


def error(*found: Found, builds_on: tuple[Plan, ...] = (), definition: Definition = CORE) -> str:
    with pytest.raises(ToolError) as caught:
        planned(*found, builds_on=builds_on, definition=definition)
    return str(caught.value)


def test_dlls_and_programs_are_kept_as_they_are() -> None:
    entries = by_path(planned(image("bin/amdhip64_7.dll"), image("bin/tool.exe", PE_PROGRAM, GUI)))
    assert [(one.treatment, one.type, one.machine, one.subsystem) for one in entries.values()] == [
        (Treatment.KEEP, PE_LIBRARY, AMD64, None),
        (Treatment.KEEP, PE_PROGRAM, AMD64, GUI),
    ]


def test_a_link_to_a_program_is_a_launcher_for_its_cpu_and_subsystem() -> None:
    plan = planned(image("lib/llvm/bin/tool.exe", PE_PROGRAM, GUI), link("bin/tool.exe", "../lib/llvm/bin/tool.exe"))
    launcher = by_path(plan)["bin/tool.exe"]
    assert (launcher.treatment, launcher.target) == (Treatment.LAUNCHER, "../lib/llvm/bin/tool.exe")
    assert (launcher.machine, launcher.subsystem) == (AMD64, GUI)
    started = {"core_lib_generic/stage/lib/llvm/bin/tool.exe": Facts("big", 1, PE_PROGRAM)}
    (edit,) = edits_by_unit(plan, started, {"core_lib_generic": "small"})["small"].entries
    assert (edit.made, edit.target, edit.machine, edit.subsystem) == ("launcher", launcher.target, AMD64, GUI)


def test_links_to_dlls_and_scripts_are_copies() -> None:
    """Windows runs no script by its first line."""
    script = replace(file("bin/hipcc", "script"), mode="0755")
    entries = by_path(planned(image("bin/a.dll"), link("bin/b.dll", "a.dll"), script, link("bin/hipcc.bin", "hipcc")))
    assert entries["bin/b.dll"].treatment is Treatment.COPY_OF_LINK
    assert entries["bin/hipcc.bin"].treatment is Treatment.COPY_OF_LINK


def test_what_is_a_dll_to_windows_is_data_elsewhere() -> None:
    document = {"size": 7, "type": "pe-damaged", "damage": "cut off"}
    assert Facts.from_document("u", document, "linux") == Facts("u", 7, "data")
    assert Facts.from_document("u", document, "windows").damage == "cut off"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("share/aux", "'aux' is the name of a device"),
        ("share/NUL.txt", "'NUL.txt' is the name of a device"),
        ("com¹/x", "'com¹' is the name of a device"),
        ("share/a:b", "'a:b' has ':', which no name may have"),
        ("share/a?", "'a?' has '?', which no name may have"),
        ("share/a\\b", "has '\\\\', which no name may have"),
        ("share/a\x07", "has '\\x07', which no name may have"),
        ("share/dot.", "'dot.' ends in a dot or space, which Windows leaves out"),
        ("share /x", "'share ' ends in a dot or space, which Windows leaves out"),
        ("share/" + "x" * 256, "is longer than 255 characters"),
    ],
)
def test_names_that_windows_cannot_have(path: str, reason: str) -> None:
    said = error(file(path))
    assert reason in said
    assert said.endswith(f"Give it another name, or exclude {path} from package core")
    assert by_path(planned(file(path), definition=replace(CORE, exclude=(path.replace("?", "*"),))))
    assert by_path(planned(file(path), definition=replace(CORE, platform="linux")))


@pytest.mark.parametrize("path", ["share/auxiliary", "share/con-x", "share/lpt10", "share/.hidden", "share/a b"])
def test_names_that_only_look_so(path: str) -> None:
    assert by_path(planned(file(path)))


def test_paths_that_are_too_long() -> None:
    longest = "/".join(["x" * 50] * 4)
    longest += "x" * (LONGEST_PATH - len("_core/") - len(longest))
    assert by_path(planned(file(longest)))
    assert f"has {LONGEST_PATH + 1} characters; expected at most {LONGEST_PATH}" in error(file(longest + "x"))


@pytest.mark.parametrize(
    ("one", "other"),
    [("share/Readme", "share/README"), ("share/Ä", "share/ä"), ("share/a", "Share/A"), ("share/A/x", "share/a")],
)
def test_paths_that_windows_takes_for_one(one: str, other: str) -> None:
    said = error(file(one), file(other))
    assert one in said
    assert other in said
    assert "expected paths that differ in more than case" in said


def test_paths_that_windows_can_tell_apart() -> None:
    paths = ["lib/a", "Lib/b", "share/ß", "share/SS"]
    assert list(by_path(planned(*map(file, paths)))) == sorted(paths)
    assert by_path(planned(directory("lib"), file("lib/a"), definition=replace(CORE, kind="devel")))


def test_packages_that_share_a_tree_share_its_names() -> None:
    libraries = planned(file("lib/Code"))
    assert "lib/Code" in error(file("lib/code"), builds_on=(libraries,))
    assert by_path(planned(file("lib/code"), definition=replace(CORE, tree="_other"), builds_on=(libraries,)))
