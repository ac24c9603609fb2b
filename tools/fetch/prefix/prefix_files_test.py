"""Paths of a prefix, and that none leaves it."""

from pathlib import Path

import pytest

from tools.fetch.prefix.cmake_syntax import CMakeError
from tools.fetch.prefix.prefix_files import MAX_SIZE, ROOT, PrefixFiles, component


def test_paths_stay_in_the_prefix(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    (tmp_path / "prefix/lib").mkdir(parents=True)
    files = PrefixFiles(tmp_path / "prefix")
    assert files.exists(ROOT)
    assert files.is_directory(f"{ROOT}/lib/../lib/")
    assert not files.exists(f"{ROOT}/../secret")
    assert not files.exists(str(tmp_path / "secret"))
    assert files.below(f"{ROOT}/lib/./x/..") == "lib"
    assert files.below(f"{ROOT}x") is None
    assert not files.exists(f"{ROOT}/{'x' * 5000}")
    assert files.glob("/*") == []
    with pytest.raises(CMakeError, match="no such file in the prefix"):
        files.read(f"{ROOT}/../secret")


def test_files_that_are_too_big(tmp_path: Path) -> None:
    with open(tmp_path / "big.cmake", "wb") as file:
        file.truncate(MAX_SIZE + 1)
    with pytest.raises(CMakeError, match=r"big\.cmake: expected at most"):
        PrefixFiles(tmp_path).read(f"{ROOT}/big.cmake")


@pytest.mark.parametrize(
    ("mode", "value"),
    [
        ("PATH", "/a/b"),
        ("NAME", "c.tar.gz"),
        ("EXT", ".tar.gz"),
        ("NAME_WE", "c"),
        ("LAST_EXT", ".gz"),
        ("NAME_WLE", "c.tar"),
        ("REALPATH", "/a/b/c.tar.gz"),
        ("PROGRAM", None),
    ],
)
def test_components(mode: str, value: str | None) -> None:
    assert component("/a/b/c.tar.gz", mode, "/base") == value
