"""Directories for new wheels: a full disk is an error that names the directory."""

import errno
import os
from pathlib import Path

import pytest

from lib.common.program import ToolError
from wheels.common.output_directory import scratch_directory


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
