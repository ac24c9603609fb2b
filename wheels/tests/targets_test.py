"""What `rocm-wheels code list` says of libraries, archives and whole wheels."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from develop.testing.device_sample import compressed
from wheels.code.tool import main
from wheels.tests.editing import mini_sdk
from wheels.tests.libraries import fat, offload_bundle
from wheels.tests.planted_set import LIBRARIES, planted_set

DIST = mini_sdk("split")
CODE = b"gfx1100" * 9


def listed(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """Return the files with device code, by path."""
    assert main(["list", "--json", *options, str(path)]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    assert document["file"] == str(path)
    return {one["path"]: one for one in document["device_code"]}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a set with device code in every form."""
    return planted_set(DIST, tmp_path_factory.mktemp("targets") / "dist").save()


def test_bundles_in_the_libraries_of_a_wheel(wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (wheel,) = wheels.glob("rocm_sdk_libraries-*.whl")
    (found,) = listed(wheel, capsys).values()
    assert found["path"] == f"{LIBRARIES}/lib/libfat.so.1"
    assert [bundle["compression"] and bundle["compression"]["method"] for bundle in found["bundles"]] == [
        None,
        "zlib",
        None,
    ]
    wanted = {"target": "gfx1100", "size": len(CODE), "sha256": hashlib.sha256(CODE).hexdigest()}
    for bundle in found["bundles"]:
        (code,) = [one for one in bundle["code_objects"] if one["target"] == "gfx1100"]
        assert wanted.items() <= code.items()


def test_archives_and_named_files_of_a_wheel(wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (wheel,) = wheels.glob("rocm_sdk_device_gfx1100-*.whl")
    found = listed(wheel, capsys)
    archive = found[f"{LIBRARIES}/.kpack/split_gfx1100.kpack"]["archive"]
    assert archive["lib/libsplit.so.1#1"] == [{"target": "gfx1100", "size": 64}]
    named = found[f"{LIBRARIES}/lib/rocblas/library/Kernels_gfx1100.dat"]
    assert named["named_for"] == "gfx1100"
    assert len(named["sha256"]) == 64


def test_a_library_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "libfat.so.1"
    path.write_bytes(fat("libfat.so.1", [offload_bundle(["gfx1100"]), compressed(offload_bundle(["gfx1100"]))]))
    assert main(["list", str(path)]) == 0
    said = capsys.readouterr().out
    assert "2 bundles (1 plain, 1 zlib (CCOB version 2))" in said
    assert said.count(hashlib.sha256(CODE).hexdigest()) == 2
    assert main(["list", "--no-hashes", str(path)]) == 0
    assert hashlib.sha256(CODE).hexdigest() not in capsys.readouterr().out


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
