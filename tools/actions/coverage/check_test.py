"""Tests of the check: what stops a build, what is only said, and what accepts it."""

import json
from pathlib import Path

import pytest

from develop.testing.coverage_sample import ALL, ROCM_7
from lib.coverage.table import Coverage, read_coverage, write_coverage
from tools.actions.coverage.check import main
from tools.actions.coverage.update import main as update

EXPECTED = Coverage({"lib/a": ("gfx1030", "gfx90a"), "lib/b": ("gfx90a",)})
FOUND = Coverage({"lib/a": ("gfx90a", "gfx942"), "lib/c": ("gfx90a",)})


def run(folder: Path, found: Coverage, *arguments: str, expected: Coverage | None = None) -> int:
    """Run the check in a folder."""
    write_coverage(str(folder / "computed.json"), found)
    extra = []
    if expected is not None:
        write_coverage(str(folder / "expected.json"), expected)
        extra = [f"--expected={folder}/expected.json", "--committed=release/coverage.json"]
    outputs = [f"--{name}={folder}/{name}" for name in ("table", "lacks", "stamp")]
    fixed = ["--label=//x:coverage", f"--computed={folder}/computed.json", "--accept=bazel run //x:coverage_update"]
    return main([*fixed, *extra, *outputs, *arguments])


def test_every_difference_stops_the_build_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, FOUND, expected=EXPECTED) == 1
    assert capsys.readouterr().err == (
        "ERROR: //x:coverage: device code differs from what release/coverage.json says:\n"
        "  lib/a\n"
        "    has no code for gfx1030; expected some\n"
        "    has code for gfx942; expected none\n"
        "  lib/b is gone; expected code for gfx90a\n"
        "  lib/c is new, with code for gfx90a\n"
        "If all of this is meant, accept it: bazel run //x:coverage_update\n"
    )
    assert not (tmp_path / "table").exists()


def test_without_differences_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, FOUND, "--package=gfx942=gfx942", expected=FOUND) == 0
    assert capsys.readouterr().err == ""
    assert read_coverage(str(tmp_path / "table")) == FOUND
    assert json.loads((tmp_path / "lacks").read_text()) == {"gfx90a": [], "gfx942": ["lib/c"]}
    assert (tmp_path / "stamp").read_bytes() == b""


def test_only_what_is_packaged_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, FOUND, "--compared=gfx1100", expected=EXPECTED) == 0
    assert run(tmp_path, FOUND, "--compared=gfx942", expected=EXPECTED) == 1
    assert "lib/b" not in capsys.readouterr().err


def test_without_a_table_one_summary_says_what_packages_lack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = ["--package=gfx1030=gfx1030", "--package=gfx110X-all=gfx1100,gfx1102", "--package=gfx90a=gfx90a"]
    assert run(tmp_path, ROCM_7, *packages) == 0
    assert capsys.readouterr().err == (
        "NOTE: //x:coverage: 3 packages lack code for their GPUs in some libraries: gfx1030 (in 2), "
        "gfx110X-all (in 2), gfx90a (in 1). To have this checked, commit the table: bazel run //x:coverage_update; "
        f"{tmp_path}/lacks has all\n"
    )
    assert run(tmp_path, Coverage({"lib/a": ("gfx90a",)}), "--package=gfx90a=gfx90a") == 0
    assert capsys.readouterr().err == ""


def test_what_lacks_the_base_libraries_is_not_to_be_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packages = [f"--package={target}={target}" for target in ALL] + ["--package=group=gfx942,gfx950"]
    assert run(tmp_path, ROCM_7, *packages) == 1
    assert capsys.readouterr().err == (
        "ERROR: //x:coverage: packages are declared for GPU targets that lack the libraries that nearly all others "
        "have:\n"
        "  gfx950 (of package group): no code in lib/librocblas.so.5, lib/librocfft.so.0, lib/librocrand.so.1, "
        "lib/librocsolver.so.0, lib/librocsparse.so.1\n"
        "Do not offer gfx950: leave it out of `targets`. If it is meant, commit the table that says so: bazel run "
        "//x:coverage_update\n"
    )
    assert run(tmp_path, ROCM_7, *packages, "--targets-option=--//wheels:targets") == 1
    assert "leave it out of --//wheels:targets. If" in capsys.readouterr().err
    assert run(tmp_path, ROCM_7, *packages, expected=ROCM_7) == 0


def settings(folder: Path, committed: str, compared: tuple[str, ...] = (), option: str = "") -> list[str]:
    """Write what the rule writes for the command; returns its arguments."""
    label = "//x:coverage_update"
    document = {"committed": committed, "compared": compared, "expected_option": option, "label": label}
    (folder / "settings.json").write_text(json.dumps(document))
    write_coverage(str(folder / "computed.json"), FOUND)
    return [str(folder / "settings.json"), str(folder / "computed.json")]


def test_one_command_accepts_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "workspace"
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(workspace))
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    table = workspace / "release" / "coverage.json"
    assert update(settings(tmp_path, "release/coverage.json")) == 0
    assert read_coverage(str(table)) == FOUND
    table.write_text("<<<<<<< a conflict")
    assert update(settings(tmp_path, "release/coverage.json")) == 0
    assert read_coverage(str(table)) == FOUND
    write_coverage(str(table), EXPECTED)
    assert update(settings(tmp_path, "release/coverage.json", ("gfx942",))) == 0
    assert read_coverage(str(table)) == Coverage({"lib/a": ("gfx1030", "gfx90a", "gfx942"), "lib/b": ("gfx90a",)})
    assert run(tmp_path, FOUND, "--compared=gfx942", expected=read_coverage(str(table))) == 0
    assert update([*settings(tmp_path, "release/coverage.json"), "first.json"]) == 0
    assert read_coverage(str(tmp_path / "first.json")) == FOUND


def test_the_command_wants_a_file_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert update(settings(tmp_path, "")) == 1
    assert capsys.readouterr().err == (
        "ERROR: //x:coverage_update: no table is named yet; say which file to write, such as `-- "
        "release/coverage.json`, and then set `expected` of //x:coverage\n"
    )
    assert update(settings(tmp_path, "../other+/coverage.json")) == 1
    assert "the table belongs to another module" in capsys.readouterr().err


def test_the_command_says_how_to_name_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(tmp_path / "first.json")
    assert update([*settings(tmp_path, ""), table]) == 0
    assert capsys.readouterr().out == f"{table}\nNow set `expected` of //x:coverage to this file\n"
    assert update([*settings(tmp_path, "", option="--//wheels:coverage"), table]) == 0
    assert capsys.readouterr().out == f"{table}\nNow set --//wheels:coverage to this file\n"
