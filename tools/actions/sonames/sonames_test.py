"""Tests of the table of libraries: what it has of a plan, how it is compared, and the command that accepts it."""

import json
from pathlib import Path

import pytest

from develop.testing.artifacts import file, image, library, link, plan
from lib.common.program import ToolError
from lib.plan.model import Definition, Plan
from tools.actions.sonames.check import main as check
from tools.actions.sonames.table import Sonames, read_sonames, sonames_of, write_sonames
from tools.actions.sonames.tool import main
from tools.actions.sonames.update import main as update

CORE = plan(
    Definition("core", "runtime", "_core", exclude=("lib/libgone.so.1",)),
    library("lib/libb.so.1", "libb.so.1"),
    library("lib/liba.so.2.1", "liba.so.2"),
    link("lib/liba.so.2", "liba.so.2.1"),
    link("lib/liba.so", "liba.so.2"),
    library("lib/libother.so", "libelse.so.1"),
    library("lib/plugin.so"),
    library("lib/libgone.so.1", "libgone.so.1"),
    file("share/data"),
)


def test_a_library_counts_under_the_name_that_the_loader_asks_for() -> None:
    """Forwarders, plugins and what is left out do not count."""
    assert sonames_of(CORE) == ("liba.so.2", "libb.so.1")


def test_a_library_counts_in_the_package_that_has_its_bytes() -> None:
    found = (library("lib/libb.so.1", "libb.so.1"), library("lib/libnew.so.1", "libnew.so.1"))
    devel = plan(Definition("devel", "devel", "_devel"), *found, builds_on=(CORE,), name="core_lib_generic")
    assert sonames_of(devel) == ("libnew.so.1",)


def test_a_dll_counts_under_the_name_of_its_file() -> None:
    windows = Definition("win", "runtime", "_win", platform="windows")
    found = (image("bin/A.dll"), image("bin/tool.exe", "pe-program", 3))
    assert sonames_of(plan(windows, *found)) == ("A.dll",)


def written(path: Path, one: Plan) -> str:
    """Write a plan; return its path."""
    path.write_text(json.dumps(one.to_document()), encoding="utf-8")
    return str(path)


def test_the_table_of_some_packages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = Plan("device", "_core", per_target=True)
    plans = [f"--plan={written(tmp_path / one.package, one)}" for one in (empty, CORE)]
    assert main(["--label=//x", *plans, f"--output={tmp_path}/table"]) == 0
    text = (tmp_path / "table").read_text()
    assert json.loads(text) == {"format": 1, "packages": {"core": ["liba.so.2", "libb.so.1"]}}
    assert read_sonames(f"{tmp_path}/table") == {"core": ("liba.so.2", "libb.so.1")}
    assert main(["--label=//x", *reversed(plans), f"--output={tmp_path}/table"]) == 0
    assert (tmp_path / "table").read_text() == text
    assert main(["--label=//x", *plans, plans[1], f"--output={tmp_path}/table"]) == 1
    assert "several packages are called core; expected a name for each" in capsys.readouterr().err


EXPECTED = {"core": ("liba.so.1", "libb.so.1"), "same": ("libx.so.1",), "gone": ("libg.so.1",)}
FOUND = {"core": ("liba.so.2", "libb.so.1"), "same": ("libx.so.1",), "new": ("libn.so.1",)}


def compared(folder: Path, found: Sonames, expected: Sonames | None = None) -> int:
    """Run the check in a folder."""
    write_sonames(str(folder / "computed.json"), found)
    arguments = ["--label=//x:sonames", f"--computed={folder}/computed.json", f"--output={folder}/table"]
    if expected is not None:
        write_sonames(str(folder / "expected.json"), expected)
        arguments += [f"--expected={folder}/expected.json", "--committed=wheels/sonames.json"]
    return check([*arguments, "--accept=bazel run //x:sonames_update"])


def test_every_difference_stops_the_build_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(tmp_path, FOUND, EXPECTED) == 1
    assert capsys.readouterr().err == (
        "ERROR: //x:sonames: libraries differ from what wheels/sonames.json says:\n"
        "  core lacks liba.so.1, and has also liba.so.2\n"
        "  gone is not there, or has no library; expected libg.so.1\n"
        "  new is new, or had no library; it has libn.so.1\n"
        "If all of this is meant, accept it: bazel run //x:sonames_update\n"
    )
    assert not (tmp_path / "table").exists()


@pytest.mark.parametrize("expected", [None, FOUND])
def test_without_differences_nothing_is_said(
    expected: Sonames | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(tmp_path, FOUND, expected) == 0
    assert capsys.readouterr().err == ""
    assert read_sonames(f"{tmp_path}/table") == FOUND


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"format": 2, "packages": {}}', '{"format": 1, "packages": {"a": "b"}}', "<<<<<<<"]
)
def test_what_is_no_table_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "table").write_text(text)
    with pytest.raises(ToolError, match=r"table: .*expected"):
        read_sonames(f"{tmp_path}/table")


def test_the_command_writes_what_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path / "wheels"))
    write_sonames(f"{tmp_path}/computed", FOUND)
    settings = tmp_path / "settings"
    for committed, option, arguments in (
        ("", "", ["first.json"]),
        ("", "--//x:o", ["a"]),
        ("wheels/sonames.json", "", []),
    ):
        document = {"committed": committed, "expected_option": option, "label": "//x:sonames_update"}
        settings.write_text(json.dumps(document))
        assert update([str(settings), f"{tmp_path}/computed", *arguments]) == 0
    assert read_sonames(f"{tmp_path}/wheels/first.json") == read_sonames(f"{tmp_path}/wheels/sonames.json") == FOUND
    output = capsys.readouterr().out
    assert "Now set `expected` of //x:sonames to this file" in output
    assert "Now set --//x:o to this file" in output


def test_the_first_time_the_command_wants_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_sonames(f"{tmp_path}/computed", FOUND)
    (tmp_path / "settings").write_text('{"committed": "", "expected_option": "", "label": "//x:sonames_update"}')
    assert update([f"{tmp_path}/settings", f"{tmp_path}/computed"]) == 1
    assert capsys.readouterr().err == (
        "ERROR: //x:sonames_update: no table is named yet; say which file to write, such as `-- release/sonames.json`, "
        "and then set `expected` of //x:sonames\n"
    )
