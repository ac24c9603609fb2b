"""Directories for new wheels: what killed runs left goes, and what others are writing stays."""

import errno
import os
import signal
from pathlib import Path

import pytest

from lib.common.program import ToolError
from wheels.common.output_directory import scratch_directory


def killed_run(output: Path) -> Path:
    """Let a process make something, and be killed; return its scratch directory."""
    child = os.fork()
    if child == 0:
        with scratch_directory(output) as scratch:
            (scratch / "half.whl").write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = output.glob(".new-wheels-*")
    return left


def test_what_a_killed_run_left_goes(tmp_path: Path) -> None:
    left = killed_run(tmp_path)
    with scratch_directory(tmp_path) as scratch:
        assert list(tmp_path.iterdir()) == [scratch]
    assert not left.exists()
    assert not list(tmp_path.iterdir())


def test_what_another_run_is_writing_stays(tmp_path: Path) -> None:
    with scratch_directory(tmp_path) as first:
        (first / "half.whl").write_bytes(b"half")
        with scratch_directory(tmp_path):
            pass
        assert (first / "half.whl").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_said_with_its_path(number: int, tmp_path: Path) -> None:
    output = tmp_path / "out"
    said = rf"^{output}: {os.strerror(number)}; .+B were free. Choose another --output"
    with pytest.raises(ToolError, match=said), scratch_directory(output):
        raise OSError(number, os.strerror(number))
    assert not output.exists()


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), scratch_directory(tmp_path):
        raise PermissionError
