"""Tests of compile_commands.json: paths in the workspace, other tools' entries, files that are no database."""

import json
from pathlib import Path
from typing import Any

import pytest

from hip.tools import compile_commands as tool
from hip.tools.compile_commands import Places
from lib.common.program import ToolError


class Project:
    """A workspace, and an execution root with the list of one library with two sources."""

    def __init__(self, directory: Path) -> None:
        self.workspace = directory / "workspace"
        self.root = directory / "base/execroot/_main"
        self.file = self.workspace / "compile_commands.json"
        self.index = self.root / "bazel-out/k8/bin/commands.index.json"
        (self.index.parent / "_hip").mkdir(parents=True)
        self.workspace.mkdir()
        (self.index.parent / "_hip/one.args").write_text(
            "-x\nhip\n-Iexternal/rocm/include\n-iquote\nbazel-out/k8/bin\n--rocm-path=external/rocm\n-DA=external\n"
        )

    def write(self, *names: str) -> None:
        """Write the list of sources."""
        sources = [
            {"file": name, "options": ["--offload-arch=gfx90a"], "output": f"bazel-out/k8/bin/_hip/one/{name}.o"}
            for name in names
        ]
        library = {
            "arguments": "bazel-out/k8/bin/_hip/one.args",
            "compiler": "external/rocm/bin/clang",
            "sources": sources,
        }
        self.index.write_text(json.dumps([library, library]))

    def run(self) -> int:
        """Run the program."""
        return tool.main([f"--index={self.index}"])

    def entries(self) -> Any:
        """Read what was written."""
        return json.loads(self.file.read_text())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Make the project."""
    made = Project(tmp_path)
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(made.workspace))
    return made


def test_paths_hold_in_the_workspace(project: Project) -> None:
    """A source that two libraries compile is listed once."""
    project.write("one.hip", "bazel-out/k8/bin/made.hip")
    assert project.run() == 0
    made, one = sorted(project.entries(), key=lambda entry: len(entry["file"]), reverse=True)
    assert made["file"] == f"{project.root}/bazel-out/k8/bin/made.hip"
    base = project.root.parents[1]
    assert one == {
        "arguments": [
            f"{base}/external/rocm/bin/clang",
            "-x",
            "hip",
            f"-I{base}/external/rocm/include",
            "-iquote",
            f"{project.root}/bazel-out/k8/bin",
            f"--rocm-path={base}/external/rocm",
            "-DA=external",
            "--offload-arch=gfx90a",
            "-c",
            "one.hip",
            "-o",
            f"{project.root}/bazel-out/k8/bin/_hip/one/one.hip.o",
        ],
        "directory": str(project.workspace),
        "file": "one.hip",
        "output": f"{project.root}/bazel-out/k8/bin/_hip/one/one.hip.o",
    }


def test_sources_of_a_local_module_are_where_they_are(project: Project, tmp_path: Path) -> None:
    """Bazel links the repository of local_path_override to the directory, whose path editors know."""
    module = tmp_path / "acme"
    module.mkdir()
    external = project.root.parents[1] / "external"
    external.mkdir()
    (external / "acme+").symlink_to(module)
    project.write("external/acme+/src/one.hip")
    assert project.run() == 0
    (entry,) = project.entries()
    assert entry["file"] == f"{module}/src/one.hip"
    assert f"{module}/src/one.hip" in entry["arguments"]


def test_entries_of_others_stay(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Entries of an earlier run, whose sources are gone, do not."""
    project.write("gone.hip", "one.hip")
    assert project.run() == 0
    other = {"arguments": ["c++", "main.cc"], "directory": "/", "file": "main.cc"}
    project.file.write_text(json.dumps([*project.entries(), other]))
    project.write("one.hip")
    assert project.run() == 0
    assert [entry["file"] for entry in project.entries()] == ["main.cc", "one.hip"]
    assert project.entries()[0] == other
    assert f"{project.file}: 1 HIP sources, and 1 entries of other programs\n" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "{", "{}x", "[1]", "3", '[{"file": 1}, 2]', '[{"command": "c++"}]'])
def test_what_is_no_database_stays(project: Project, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It may be somebody's work."""
    project.write("one.hip")
    project.file.write_text(content)
    assert project.run() == 2
    assert project.file.read_text() == content
    assert f"{project.file}: expected a list of entries" in capsys.readouterr().err
    assert [path.name for path in project.workspace.iterdir()] == ["compile_commands.json"]


def test_it_needs_bazel_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing else says where the workspace is."""
    monkeypatch.delenv("BUILD_WORKSPACE_DIRECTORY", raising=False)
    assert tool.main([f"--index={tmp_path}/index.json"]) == 2
    assert "Run this program with `bazel run`" in capsys.readouterr().err
    with pytest.raises(ToolError, match="expected a file below bazel-out"):
        Places.of(tmp_path, tmp_path / "index.json")
