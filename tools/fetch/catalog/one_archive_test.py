"""Tests of the program that makes the repository of one archive."""

import hashlib
from pathlib import Path

import pytest

from develop.testing.planted_archives import COMPRESS, file, link, manifest, plant
from tools.fetch.catalog import one_archive
from tools.fetch.catalog.names import CatalogError

SUFFIXES = sorted(COMPRESS)


@pytest.fixture(params=SUFFIXES)
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return where an archive may be planted, with each suffix."""
    return tmp_path / f"a_lib_generic{request.param}"


def run(archive: Path, tmp_path: Path, *options: str) -> int:
    output = tmp_path / "repository"
    output.mkdir(exist_ok=True)
    return one_archive.main(
        [f"--archive={archive}", "--artifact=a_lib_generic", "--repository=r", f"--output={output}", *options]
    )


def test_the_repository_of_an_archive(archive: Path, tmp_path: Path) -> None:
    split = file("stage/share/therock/therock_manifest.json", b'{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}')
    plant(archive, [manifest(), file("stage/BUILD", b"text", 0o640), link("stage/l", "BUILD"), split])
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert run(archive, tmp_path, f"--sha256={digest}") == 0
    output = tmp_path / "repository"
    assert f'archive_sha256 = "{digest}"' in (output / "BUILD.bazel").read_text()
    assert "SPLIT = True" in (output / "artifacts.bzl").read_text()
    assert (output / ".bazelignore").read_text() == "unpacked\n"
    link_ = output / "files/a_lib_generic/stage/BUILD%"
    assert (link_.readlink(), link_.read_bytes()) == (Path("../../../unpacked/a_lib_generic/stage/BUILD"), b"text")


def test_errors_of_the_program(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def error(*options: str) -> str:
        assert run(archive, tmp_path, *options) == 1
        assert not list((tmp_path / "repository").iterdir())
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        return said.rstrip("\n")

    assert error() == f"{archive}: cannot be read: No such file or directory"
    plant(archive, [manifest(), file("stage/share/therock/therock_manifest.json", b"{")])
    assert "share/therock/therock_manifest.json: expected a JSON object" in error()


def test_an_archive_of_another_suffix_is_named(tmp_path: Path) -> None:
    archive = tmp_path / "a_lib_generic.tar.bz2"
    archive.touch()
    with pytest.raises(CatalogError, match=rf"^{archive}: expected an archive whose name ends in \.tar\.zst, .*Rename"):
        list(one_archive.read_archive(archive))
