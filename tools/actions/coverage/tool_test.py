"""Tests of what the action writes: the table in both forms, what targets lack, and which should not be offered."""

import json
from pathlib import Path

import pytest

from develop.testing.coverage_sample import ALL, ROCM_7
from lib.device.coverage import Coverage
from tools.actions.coverage.tool import lack_summary, main, offer_message, text_table


def test_text() -> None:
    coverage = Coverage({"lib/librocblas.so.5": ("gfx803", "gfx90a:xnack+", "gfx1030"), "lib/foo/": ("gfx1030",)})
    assert text_table(coverage) == (
        "                gfx 803 90a 1030\n"
        "lib/foo/              .   .    x\n"
        "lib/librocblas.so.5   x   f    x\n"
        "\n"
        "x: has code   f: only with features, such as gfx90a:xnack+   .: has none\n"
    )
    assert text_table(Coverage()) == "No library has device code.\n"


def run(folder: Path, facts: dict[str, dict[str, object]], *options: str) -> int:
    """Run the action over an artifact with these files."""
    entries = [
        {"base": "stage", "path": source.partition("/stage/")[2], "kind": "file", "mode": "0644", "file": source}
        for source in facts
    ]
    (folder / "manifest").write_text(json.dumps({"artifact": "blas_lib_x", "entries": entries}))
    (folder / "facts").write_text(json.dumps({"artifact": "blas_lib_x", "unit": "u", "files": facts}))
    given = [f"--{name}={folder}/{name}" for name in ("manifest", "facts", "table", "text", "lacks", "stamp")]
    return main(["--label=//x:coverage", *given, *options])


def library(name: str, *targets: str) -> dict[str, dict[str, object]]:
    """Return the facts of a library with code for these targets."""
    code = dict.fromkeys(targets, 10)
    return {f"blas_lib_x/stage/lib/{name}": {"size": 1, "type": "elf-library", "device": code}}


def test_all_forms_are_written_of_manifests_and_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = library("liba.so", "gfx90a", "gfx942") | library("libb.so", "gfx90a")
    assert run(tmp_path, facts, "--package=gfx90a=gfx90a") == 0
    assert capsys.readouterr().err == ""
    written = json.loads((tmp_path / "table").read_text())
    assert written == {"format": 1, "libraries": {"lib/liba.so": ["gfx90a", "gfx942"], "lib/libb.so": ["gfx90a"]}}
    assert (tmp_path / "text").read_text().startswith("        gfx 90a 942\nlib/liba.so   x   x\n")
    assert json.loads((tmp_path / "lacks").read_text()) == {"gfx90a": [], "gfx942": ["lib/libb.so"]}
    assert (tmp_path / "stamp").read_bytes() == b""


def test_one_note_says_what_packages_lack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = library("liba.so", "gfx90a", "gfx942") | library("libb.so", "gfx90a")
    assert run(tmp_path, facts, "--package=gfx942=gfx942", "--package=gfx90a=gfx90a") == 0
    assert capsys.readouterr().err == (
        "NOTE: //x:coverage: 1 packages lack code for their GPUs in some libraries: gfx942 (in 1). "
        f"{tmp_path}/lacks has all\n"
    )
    packages = {"gfx1030": ["gfx1030"], "gfx110X-all": ["gfx1100", "gfx1102"], "gfx90a": ["gfx90a"]}
    assert lack_summary(ROCM_7, packages) == ["gfx1030 (in 2)", "gfx110X-all (in 2)", "gfx90a (in 1)"]


def test_what_lacks_the_base_libraries_is_not_to_be_offered() -> None:
    packages = {target: [target] for target in ALL}
    assert offer_message(ROCM_7, packages) is None
    packages["group"] = ["gfx942", "gfx950"]
    message = offer_message(ROCM_7, packages)
    assert message == (
        "packages are declared for GPU targets that lack the libraries that nearly all others have:\n"
        "  gfx950 (of package group): no code in lib/librocblas.so.5, lib/librocfft.so.0, lib/librocrand.so.1, "
        "lib/librocsolver.so.0, lib/librocsparse.so.1\n"
        "Do not offer gfx950: leave it out of `targets`, or add artifacts with its code."
    )
    assert "out of --//wheels:targets, or" in (offer_message(ROCM_7, packages, "--//wheels:targets") or "")


def test_a_target_that_should_not_be_offered_stops_the_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, library("liba.so", "gfx90a"), "--package=gfx90a=gfx90a", "--package=gfx942=gfx942") == 1
    assert "ERROR: //x:coverage: packages are declared for GPU targets" in capsys.readouterr().err
    assert not (tmp_path / "stamp").exists()


def test_dlls_count_for_windows_alone(tmp_path: Path) -> None:
    facts = {"blas_lib_x/stage/bin/a.dll": {"size": 1, "type": "pe-library", "device": {"gfx1201": 10}}}
    for options, libraries in (["--platform=windows"], {"bin/a.dll": ["gfx1201"]}), ([], {}):
        assert run(tmp_path, facts, *options) == 0
        assert json.loads((tmp_path / "table").read_text())["libraries"] == libraries
