"""Whose the DLLs are that images need, by their names."""

import pytest
from packaging.tags import parse_tag

from wheels.verify.windows import is_for_windows, is_redistributable, is_system


@pytest.mark.parametrize("name", ["kernel32.dll", "api-ms-win-crt-heap-l1-1-0.dll", "vcruntime140.dll", "icuuc.dll"])
def test_what_windows_or_the_interpreter_has(name: str) -> None:
    assert is_system(name)


@pytest.mark.parametrize("name", ["python3.dll", "python312.dll", "python313t.dll", "libpypy3.10-c.dll"])
def test_interpreters(name: str) -> None:
    assert is_system(name)


@pytest.mark.parametrize("name", ["msvcp140.dll", "msvcp140_1.dll", "vcomp140.dll", "mfc140u.dll", "msvcr120.dll"])
def test_what_users_can_install(name: str) -> None:
    assert is_redistributable(name)
    assert not is_system(name)


def test_wheels() -> None:
    assert is_for_windows(parse_tag("cp312-cp312-win_amd64"))
    assert not is_for_windows(parse_tag("py3-none-any"))
    assert not is_for_windows(parse_tag("py3-none-win_amd64.linux_x86_64"))
