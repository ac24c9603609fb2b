"""What `rocm-wheels code list` says of libraries, archives and whole wheels."""

from pathlib import Path

import pytest

from develop.testing.device_sample import compressed
from wheels.code.tool import main
from wheels.tests.editing import mini_sdk
from wheels.tests.libraries import fat, offload_bundle
from wheels.tests.planted_set import LIBRARIES, planted_set

DIST = mini_sdk("split")
CODE = b"gfx1100" * 9


def listed(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what the command says of a file, without its first line, which names it."""
    assert main(["list", str(path)]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"{path}:"
    return rest


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a set with device code in every form."""
    return planted_set(DIST, tmp_path_factory.mktemp("targets") / "dist").save()


def test_bundles_in_the_libraries_of_a_wheel(wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (wheel,) = wheels.glob("rocm_sdk_libraries-*.whl")
    found = listed(wheel, capsys)
    assert found[0].startswith(f"{LIBRARIES}/lib/libfat.so.1: 3 bundles (2 plain, 1 zlib), ")
    assert f"  {'gfx1100':<24} {3:>6} code objects {3 * len(CODE):>14} bytes" in found
    assert any(line.startswith(f"{LIBRARIES}/lib/libsplit.so.1: its device code is in archives") for line in found)


def test_archives_and_named_files_of_a_wheel(wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (wheel,) = wheels.glob("rocm_sdk_device_gfx1100-*.whl")
    found = listed(wheel, capsys)
    assert f"  lib/libsplit.so.1#1  {'gfx1100':<24} {64:>14} bytes" in found
    named = f"{LIBRARIES}/lib/rocblas/library/Kernels_gfx1100.dat: for gfx1100 by its name"
    assert any(line.startswith(named) for line in found)


def test_nothing_and_damage(wheels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (wheel,) = wheels.glob("tool-*.whl")
    assert main(["list", str(wheel)]) == 0
    assert "no device code; searched " in capsys.readouterr().out
    path = tmp_path / "libfat.so.1"
    path.write_bytes(fat("libfat.so.1", [compressed(offload_bundle(["gfx1100"]))[:-20]]))
    assert main(["list", str(path)]) == 2
    assert "rocm-wheels code: " in capsys.readouterr().err
    assert main(["list", str(tmp_path / "gone.so")]) == 2
    assert "gone.so" in capsys.readouterr().err
