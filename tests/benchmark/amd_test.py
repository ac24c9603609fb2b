"""Tests of the flow of AMD's script: how a checkout is called, and what is said when that fails."""

import sys
from pathlib import Path

import pytest

from tests.benchmark.amd import SCRIPT, Script

MAKES = """
import argparse, pathlib, shutil
import beside
parser = argparse.ArgumentParser()
parser.add_argument("--artifact-dir", type=pathlib.Path)
parser.add_argument("--dest-dir", type=pathlib.Path)
args = parser.parse_args()
(args.dest_dir / "dist/family").mkdir(parents=True)
(args.dest_dir / "staged").write_bytes(bytes(50))
for name in ("a.whl", "family/b.whl"):
    shutil.copy(args.artifact_dir / "file", args.dest_dir / "dist" / name)
"""


def checkout(folder: Path, program: str) -> Script:
    """Make a checkout whose script is the program."""
    (folder / SCRIPT).parent.mkdir(parents=True)
    (folder / SCRIPT).write_text(program)
    return Script(folder, Path(sys.executable))


def test_counts_distributions_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "artifacts/file").write_bytes(bytes(1000))
    script = checkout(tmp_path / "therock", MAKES)
    (script.checkout / SCRIPT).with_name("beside.py").touch()
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # as Bazel may
    cost = script.make_packages(tmp_path / "artifacts", tmp_path / "scratch/amd")
    assert cost.produced == 2000
    assert cost.seconds > 0
    assert not (tmp_path / "scratch/amd").exists()


def test_a_failure_repeats_what_the_script_said(tmp_path: Path) -> None:
    script = checkout(tmp_path / "therock", "print('no patchelf')\nraise SystemExit(3)\n")
    with pytest.raises(RuntimeError, match=r"build_python_packages.py: exit code 3\nno patchelf"):
        script.make_packages(tmp_path, tmp_path / "scratch")


def test_a_folder_that_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"build_python_packages.py: not there; expected a checkout of TheRock"):
        Script(tmp_path, Path(sys.executable))
