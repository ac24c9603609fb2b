"""Tests of the table in both forms, as the action writes them."""

import json
from pathlib import Path

from lib.coverage.table import Coverage
from tools.actions.coverage.tool import main, text_table


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


def test_all_forms_are_written_of_manifests_and_facts(tmp_path: Path) -> None:
    source = "blas_lib_x/stage/lib/liba.so"
    entry = {"base": "stage", "path": "lib/liba.so", "kind": "file", "mode": "0644", "file": "f"}
    facts = {source: {"size": 1, "type": "elf-library", "device": {"gfx942": 10}}}
    (tmp_path / "manifest").write_text(json.dumps({"artifact": "blas_lib_x", "entries": [entry]}))
    (tmp_path / "facts").write_text(json.dumps({"artifact": "blas_lib_x", "unit": "u", "files": facts}))
    inputs = [f"--{name}={tmp_path}/{name}" for name in ("manifest", "facts")]
    outputs = [f"--{name}={tmp_path}/{name}" for name in ("json", "text")]
    assert main(["--label=//x", *inputs, *outputs]) == 0
    written = json.loads((tmp_path / "json").read_text())
    assert written == {"format": 1, "libraries": {"lib/liba.so": ["gfx942"]}}
    assert (tmp_path / "text").read_text().startswith("        gfx 942\nlib/liba.so   x\n")


def test_dlls_count_for_windows_alone(tmp_path: Path) -> None:
    entry = {"base": "stage", "path": "bin/a.dll", "kind": "file", "mode": "0644", "file": "f"}
    facts = {"blas_lib_x/stage/bin/a.dll": {"size": 1, "type": "pe-library", "device": {"gfx1201": 10}}}
    (tmp_path / "manifest").write_text(json.dumps({"artifact": "blas_lib_x", "entries": [entry]}))
    (tmp_path / "facts").write_text(json.dumps({"artifact": "blas_lib_x", "unit": "u", "files": facts}))
    given = [f"--{name}={tmp_path}/{name}" for name in ("manifest", "facts", "json", "text")]
    for options, libraries in (["--platform=windows"], {"bin/a.dll": ["gfx1201"]}), ([], {}):
        assert main(["--label=//x", *given, *options]) == 0
        assert json.loads((tmp_path / "json").read_text())["libraries"] == libraries
