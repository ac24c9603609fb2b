"""Tests of the benchmark's input: what is changed is the copy, never what it was copied from."""

import errno
import os
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from lib.elf.reader import read_elf
from tests.benchmark import artifacts

LIBRARY = Sample(tail=bytes(10_000)).build()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    stage = tmp_path / "source/blas_lib_generic/stage"
    (stage / "lib").mkdir(parents=True)
    (stage / "lib/libblas.so.1").write_bytes(LIBRARY)
    (stage / "lib/libblas.so.1").chmod(0o444)
    (stage / "lib/libblas.so").symlink_to("libblas.so.1")
    (tmp_path / "source/blas_lib_generic/artifact_manifest.txt").write_text("stage\n")
    headers = tmp_path / "source/blas_dev_generic/stage/include"
    headers.mkdir(parents=True)
    (headers / "blas.h").write_text("int blas;\n")
    return tmp_path / "source"


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Read all files with their modes."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def test_a_copy_shares_files_and_keeps_links(source: Path, tmp_path: Path) -> None:
    copy = artifacts.copy_artifacts(source, tmp_path / "copy")
    library = "blas_lib_generic/stage/lib/libblas.so.1"
    assert (copy / library).samefile(source / library)
    assert (copy / "blas_lib_generic/stage/lib/libblas.so").readlink() == Path("libblas.so.1")
    assert snapshot(copy) == snapshot(source)


def test_changes_never_reach_the_source(source: Path, tmp_path: Path) -> None:
    before = snapshot(source)
    copy = artifacts.copy_artifacts(source, tmp_path / "copy")
    library, header = artifacts.find_library(copy, "small"), artifacts.find_header(copy)
    assert library
    assert header
    artifacts.change_library(library, 7)
    artifacts.change_header(header, 7)
    assert snapshot(source) == before
    assert header.read_text() == "int blas;\n// 7\n"
    assert library.stat().st_mode & 0o777 == 0o444
    changed = library.read_bytes()
    differing = [at for at, (old, new) in enumerate(zip(LIBRARY, changed, strict=True)) if old != new]
    assert differing
    with library.open("rb") as file:
        (comment,) = [one for one in read_elf(file, "").section_headers if one.name == ".comment"]
    assert comment.offset < differing[0] <= differing[-1] < comment.file_end


def test_another_file_system_gets_copies(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refused)
    copy = artifacts.copy_artifacts(source, tmp_path / "copy")
    assert snapshot(copy) == snapshot(source)
    library = "blas_lib_generic/stage/lib/libblas.so.1"
    assert not (copy / library).samefile(source / library)


def test_nothing_to_change(tmp_path: Path) -> None:
    assert artifacts.find_library(tmp_path, "big") is None
    assert artifacts.find_library(tmp_path, "small") is None
    assert artifacts.find_library(tmp_path, "librocfft") is None
    assert artifacts.find_header(tmp_path) is None
