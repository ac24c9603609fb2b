"""Tests of knowing forwarders; tests/integration has those that the build makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from rocm_sdk.forwarders import is_forwarder

COMMENT = b"rules_rocm_python forwarder\0"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("libfoo.so", b"\x7fELF" + bytes(500) + COMMENT + bytes(500), True),
        ("libfoo.so", b"\x7fELF" + bytes(1000), False),
        ("libfoo.so", b"\x7fELF" + bytes(5000) + COMMENT, False),
        ("libfoo.so.1", b"\x7fELF" + COMMENT, False),
        ("readme.txt", COMMENT, False),
    ],
    ids=["forwarder", "library", "large library that speaks of them", "versioned", "text"],
)
def test_forwarders_are_known_by_name_size_and_comment(
    tmp_path: Path, name: str, content: bytes, expected: bool
) -> None:
    (tmp_path / name).write_bytes(content)
    assert is_forwarder(tmp_path / name) is expected


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        is_forwarder(tmp_path / "libfoo.so")
