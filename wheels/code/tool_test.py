"""`rocm-wheels code list` says what it searched, and calls nothing clean that it could not read."""

import tarfile
from pathlib import Path

import pytest

from develop.testing.fat_wheel import FAT, code, library, plain, written
from develop.testing.wheel_sample import Sample
from wheels.code.tool import main
from wheels.verify.tool import main as verify


def said(arguments: list[object], capfd: pytest.CaptureFixture[str], status: int) -> str:
    """Return what the command says."""
    assert main(["list", *map(str, arguments)]) == status
    captured = capfd.readouterr()
    return captured.out + captured.err


def test_half_a_wheel_and_a_damaged_member(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "there is no end record (PK\\5\\6); expected a whole wheel" in said([path], capfd, 2)
    damaged = bytearray(whole)
    damaged[whole.index(b"acme/lib/libacme.so") + 300] ^= 0x55
    path.write_bytes(damaged)
    assert "acme/lib/libacme.so: " in said([path], capfd, 2)
    path.write_bytes(b"")
    assert "expected a whole wheel" in said([path], capfd, 2)


@pytest.mark.parametrize("name", ["acme-1.0.tar.gz", "acme.tar", "acme.zip", "acme.tar.zst", "acme.deb"])
def test_a_packed_archive(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    with tarfile.open(path, "w:gz") as archive:
        archive.add(written(tmp_path), "acme.so")
    assert "a packed archive; expected a library, bundle file, .kpack or wheel. Unpack it" in said([path], capfd, 2)


def test_a_directory_and_what_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "Is a directory" in said([tmp_path], capfd, 2)
    assert "No such file" in said([tmp_path / "absent.whl"], capfd, 2)


def test_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    wheel = written(tmp_path, Sample())
    assert f"{wheel}: no device code; searched 5 files for sections of HIP, " in said([wheel], capfd, 0)
    assert f"  {'gfx1031':<24} {1:>6} code objects {3000:>14} bytes\n" in said([written(tmp_path, FAT)], capfd, 0)


def test_two_bundles_of_different_code(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "libtwo.so"
    path.write_bytes(library(plain(("gfx942",)), plain(("gfx1100",))))
    lines = said([path], capfd, 0).splitlines()
    assert lines[0].startswith(f"{path}: 2 bundles (2 plain), ")
    assert [line.split() for line in lines[1:]] == [
        [target, "1", "code", "objects", str(len(code(target))), "bytes"] for target in ("gfx1100", "gfx942")
    ]


def test_a_target_needs_the_set(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        verify(["--no-set", "--target=gfx942", str(written(tmp_path))])
    assert ended.value.code == 2
    assert "--target is about the set, which --no-set leaves out; leave one of them out" in capfd.readouterr().err
