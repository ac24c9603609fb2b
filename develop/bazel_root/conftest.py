"""Gives each test of bazelw a machine, and a copy of bazelw to change."""

import shutil
from pathlib import Path

import pytest

from develop.bazel_root.machine import BAZELW, FAKES, TOOLS, Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Make a Debian machine, used by root, without Bazel."""
    result = Machine(tmp_path)
    for name, body in FAKES.items():
        result.fake(name, body)
    for name in TOOLS:
        real = shutil.which(name)
        assert real, f"this machine has no {name}"
        (result.path / name).symlink_to(real)
    result.home.mkdir()
    return result


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy bazelw and its files for a test to change."""
    workspace = tmp_path / "work space"
    shutil.copytree(BAZELW.parent / "develop/bazel_root", workspace / "develop/bazel_root")
    fingerprint = "tools/fetch/catalog/fingerprint.sh"
    (workspace / fingerprint).parent.mkdir(parents=True)
    shutil.copy(BAZELW.parent / fingerprint, workspace / fingerprint)
    return Path(shutil.copy(BAZELW, workspace / "bazelw"))
