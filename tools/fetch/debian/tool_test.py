"""Tests of the program behind `rocm.debian`: artifacts that the catalog takes, and what it says of bad requests."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from develop.testing.debian_sample import copyright_of, file, write_deb
from tools.fetch.catalog import catalog
from tools.fetch.debian.tool import main
from tools.fetch.debian.unpack import Unpacking

LIBRARY = "usr/lib/x86_64-linux-gnu/"
PACKAGES = {
    "librocblas0": [file(LIBRARY + "librocblas.so.0"), file(LIBRARY + "T_gfx906.co"), file(LIBRARY + "T_gfx1010.co")],
    "libnuma1": [file(LIBRARY + "libnuma.so.1"), file("usr/share/unwanted")],
}


def described(name: str) -> dict[str, str]:
    """Return what the index would say of a package."""
    return {"name": name, "version": "1:1.0-1", "source": name, "architecture": "amd64", "sha256": "0" * 64}


@pytest.fixture
def downloaded(tmp_path: Path) -> Path:
    """Make a directory as `download` leaves it."""
    (tmp_path / "debs").mkdir()
    for name, members in PACKAGES.items():
        write_deb(tmp_path / "debs" / f"{name}.deb", *members, copyright_of(name))
    resolved = {
        "distribution": "Debian",
        "suite": "trixie",
        "absent": [],
        "packages": [described(name) for name in sorted(PACKAGES)],
        "system": [described("libc6")],
    }
    (tmp_path / "resolved.json").write_text(json.dumps(resolved))
    return tmp_path


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="only Debian and its kin have dpkg-deb")
def test_artifacts_that_the_catalog_takes(downloaded: Path) -> None:
    assert main(["--step=lay-out", f"--directory={downloaded}"]) == 0
    assert sorted(path.name for path in downloaded.iterdir()) == ["artifacts", "packages.json", "resolved.json"]
    repository = downloaded / "repository"
    repository.mkdir()
    arguments = [f"--artifacts={downloaded / 'artifacts'}", "--repository=r", f"--output={repository}"]
    assert catalog.main(arguments) == 0
    loadable = (repository / "artifacts.bzl").read_text()
    assert "SPLIT = True" in loadable
    assert 'DIST_TARGETS = ["gfx1010", "gfx906"]' in loadable
    for name in ("base_lib_generic", "blas_lib_generic", "blas_lib_gfx906", "blas_lib_gfx1010", "sysdeps_lib_generic"):
        assert f"//:{name}" in loadable
    packages = json.loads((downloaded / "packages.json").read_text())
    assert [one["artifacts"] for one in packages["packages"]] == [
        ["sysdeps_lib_generic"],
        ["blas_lib_generic", "blas_lib_gfx1010", "blas_lib_gfx906"],
    ]
    about = downloaded / "artifacts/base_lib_generic/base/aux-overlay/stage/share/therock/debian_packages.json"
    assert json.loads(about.read_text()) == packages


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="only Debian and its kin have dpkg-deb")
def test_packages_of_any_sdk(downloaded: Path) -> None:
    """Each is an artifact, with all its files, and there is no word of ROCm."""
    assert main(["--step=lay-out", f"--directory={downloaded}", "--plain"]) == 0
    folders = downloaded / "artifacts"
    found = sorted(str(path.relative_to(folders)) for path in folders.rglob("*") if path.is_file())
    assert found == [
        "libnuma1_lib_generic/artifact_manifest.txt",
        "libnuma1_lib_generic/stage/lib/libnuma.so.1",
        "libnuma1_lib_generic/stage/share/doc/libnuma1/copyright",
        "libnuma1_lib_generic/stage/share/unwanted",
        "librocblas0_lib_generic/artifact_manifest.txt",
        "librocblas0_lib_generic/stage/lib/T_gfx1010.co",
        "librocblas0_lib_generic/stage/lib/T_gfx906.co",
        "librocblas0_lib_generic/stage/lib/librocblas.so.0",
        "librocblas0_lib_generic/stage/share/doc/librocblas0/copyright",
    ]


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="only Debian and its kin have dpkg-deb")
def test_a_file_that_two_packages_of_any_sdk_have(downloaded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The remedy is an attribute, not a table of these rules."""
    write_deb(downloaded / "debs/librocblas0.deb", file("usr/lib/x86_64-linux-gnu/libnuma.so.1"))
    assert main(["--step=lay-out", f"--directory={downloaded}", "--plain"]) == 1
    assert "libnuma.so.1, which libnuma1 has already; name the package in `system`" in capsys.readouterr().err


def test_no_space_left(downloaded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Unpacking, "add", full)
    assert main(["--step=lay-out", f"--directory={downloaded}", "--label=rocm.debian"]) == 1
    assert capsys.readouterr().err == (
        f"ERROR: rocm.debian: {downloaded}: No space left on device; check its permissions and the space on its disk\n"
    )


def test_an_unknown_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--step=resolve", f"--directory={tmp_path}", "--set=tiny"]) == 1
    assert "ROCM_DEBIAN_SET=tiny: there is no such set; expected one of all, small" in capsys.readouterr().err


def test_a_package_that_no_rule_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--step=resolve", f"--directory={tmp_path}", "--package=hipcc", "--package=bash"]) == 1
    said = capsys.readouterr().err
    assert "no rule of ROCm's packages for bash; choose others, declare `artifacts.debian` for another SDK" in said


def test_a_package_that_stays_with_the_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--plain", "--package=libc6", "--package=ffmpeg", "--system=libc*"]
    assert main(["--step=resolve", f"--directory={tmp_path}", *options]) == 1
    assert "`system` leaves out libc6; remove it from `packages`, or from `system`" in capsys.readouterr().err
