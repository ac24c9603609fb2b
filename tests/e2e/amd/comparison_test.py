"""Tests of the comparison with AMD's packages, on wheels and sdists of one file each."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from tests.e2e.amd.comparison import Pair, sdist_differences
from tests.e2e.amd.differences import Difference
from tests.e2e.amd.trees import Wheel, read_sdist, read_wheel

LIBRARY = "_rocm_sdk_core/lib/libx.so.1"


def differences(folder: Path, amd: bytes, ours: bytes) -> list[tuple[str, str]]:
    wheels: list[Wheel] = []
    for side, data in (("amd", amd), ("ours", ours)):
        (folder / side).mkdir()
        path = folder / side / "rocm_sdk_core-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(LIBRARY, data)
            archive.writestr("rocm_sdk_core-1.0.dist-info/METADATA", "Name: rocm-sdk-core\n")
            archive.writestr("rocm_sdk_core-1.0.dist-info/entry_points.txt", "")
        wheels.append(read_wheel(path))
    (folder / "scratch").mkdir()
    return [(one.what, one.detail) for one in Pair(wheels[0], wheels[1], folder / "scratch").differences()]


@pytest.mark.parametrize("size", [100, 10_000_000])
def test_a_file_that_is_larger_than_an_rpath_needs(size: int, tmp_path: Path) -> None:
    library = Sample(needed=("libx.so",), rpath="$ORIGIN").build()
    found = differences(tmp_path, library, library + bytes(size))
    assert found == ([("size", "ours has 10000000 bytes more")] if size > 100 else [])


@pytest.mark.parametrize(
    ("needed", "undefined", "is_served"),
    [
        (("libc.so.6", "libstdc++.so.6"), (), True),
        (("libc.so.6",), ("dlopen",), False),
        (("libc.so.6", "libx.so"), (), False),
    ],
)
def test_a_file_without_a_search_path(
    needed: tuple[str, ...], undefined: tuple[str, ...], is_served: bool, tmp_path: Path
) -> None:
    amd = Sample(needed=needed, undefined=undefined, rpath="$ORIGIN")
    ours = Sample(needed=needed, undefined=undefined, rpath=None)
    whats = [what for what, _ in differences(tmp_path, amd.build(), ours.build())]
    assert ("no search path" in whats) == is_served
    assert ("search path of AMD" in whats) != is_served


def test_extras_of_the_sdist(tmp_path: Path) -> None:
    """AMD's stand in PKG-INFO; ours come from the backend that is in the sdist."""
    backend = (
        "import os, pathlib\ndef prepare_metadata_for_build_wheel(out):\n"
        " os.mkdir(out + '/rocm-1.dist-info')\n"
        " pathlib.Path(out, 'rocm-1.dist-info/METADATA').write_text('Name: rocm\\nProvides-Extra: devel\\n')\n"
    )
    system = '[build-system]\nbuild-backend = "own"\n'
    sdists = {
        "amd": {"pyproject.toml": "[build-system]\n", "PKG-INFO": "Name: rocm\nProvides-Extra: libraries\n"},
        "ours": {"pyproject.toml": f'{system}backend-path = ["in"]\n', "PKG-INFO": "Name: x\n", "in/own.py": backend},
    }
    for side, files in sdists.items():
        (tmp_path / side).mkdir()
        with tarfile.open(tmp_path / side / "rocm-1.tar.gz", "w:gz") as archive:
            for name, text in files.items():
                member = tarfile.TarInfo(f"rocm-1/{name}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))
    assert list(sdist_differences(read_sdist(tmp_path / "amd"), read_sdist(tmp_path / "ours"))) == [
        Difference("rocm", "Provides-Extra", "metadata of AMD", "libraries"),
        Difference("rocm", "Provides-Extra", "metadata of ours", "devel"),
    ]
