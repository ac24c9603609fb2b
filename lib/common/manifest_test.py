"""Tests of finding an artifact's files."""

import json
from pathlib import Path

import pytest

from lib.common.manifest import located_sources
from lib.common.program import ToolError


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    files = ["a", "a=a", "../r/files/ï x%3Ay"]
    entries = [{"base": "stage", "path": f"p{at}", "kind": "file", "file": file} for at, file in enumerate(files)]
    entries.append({"base": "stage", "path": "link", "kind": "link", "target": "p0"})
    (tmp_path / "manifest").write_text(json.dumps({"artifact": "n_lib_x", "entries": entries}), encoding="utf-8")
    return str(tmp_path / "manifest")


def test_files_are_found_by_the_builds_names(manifest: str) -> None:
    arguments = ["../r/files/ï x%3Ay=external/r/files/ï x%3Ay", "a=a", "a=a=a=a"]
    assert located_sources(manifest, "n_lib_x", arguments) == {
        "n_lib_x/stage/p2": "external/r/files/ï x%3Ay",
        "n_lib_x/stage/p0": "a",
        "n_lib_x/stage/p1": "a=a",
    }


@pytest.mark.parametrize("argument", ["b=b", "link=x", "a", ""])
def test_file_that_the_manifest_does_not_have(manifest: str, argument: str) -> None:
    with pytest.raises(ToolError) as error:
        located_sources(manifest, "n_lib_x", [argument])
    assert str(error.value) == f"{argument}: no file of that name in {manifest}; expected a file of artifact n_lib_x"
