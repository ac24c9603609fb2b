"""`rocm-wheels code extract`: what it writes, and how it fails."""

from pathlib import Path

import pytest

from develop.testing.device_sample import HOST, PREFIX, Part, Sample, bundle, compressed
from lib.device.content import CHUNK
from lib.device.model import Pointer
from wheels.code.tool import main

CODE = {
    "gfx1030": b"first",
    "gfx90a:xnack+": b"second" * CHUNK,
    "gfx90a:xnack-": b"third",
    "gfx11-generic": b"fourth",
}
PLAIN = bundle([(HOST, b""), *((PREFIX + target, code) for target, code in CODE.items())])
FIFTH = {"00001-gfx1030": b"fifth", "00002-gfx1030": b"fifth"}
LATER = compressed(bundle([(HOST, b""), (f"{PREFIX}gfx1030", b"fifth")]), 3)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Make a library of a plain and a compressed bundle, and one without a wrapper."""
    path = tmp_path / "libsample.so"
    path.write_bytes(Sample((Part(PLAIN), Part(LATER, Pointer.RELR), Part(LATER, None))).build())
    return path


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (None, {**{f"00000-{target}": code for target, code in CODE.items()}, **FIFTH}),
        ("gfx1030", {"00000-gfx1030": b"first", **FIFTH}),
        ("gfx90a:xnack-:sramecc+", {"00000-gfx90a:xnack-": b"third"}),
        ("gfx90a", {"00000-gfx90a:xnack+": CODE["gfx90a:xnack+"], "00000-gfx90a:xnack-": b"third"}),
        ("gfx1103", {"00000-gfx11-generic": b"fourth"}),
    ],
)
def test_extract(library: Path, tmp_path: Path, target: str | None, expected: dict[str, bytes]) -> None:
    directory = tmp_path / "new" / "code"
    options = ["--target", target] if target else []
    assert main(["extract", str(library), "--directory", str(directory), *options]) == 0
    names = {f"{name[:6]}{PREFIX}{name[6:]}.co".replace(":", "_"): code for name, code in expected.items()}
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == names


def test_extract_for_a_gpu_that_has_no_code(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", str(library), "--directory", str(tmp_path / "code"), "--target", "gfx942"]) == 1
    assert f"{library} has no code object that gfx942 can load" in capsys.readouterr().err


def test_failure_leaves_no_part_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "code.hipfb"
    data = compressed(bundle([(f"{PREFIX}gfx1030", b"x" * 10), (f"{PREFIX}gfx1100", bytes(range(256)) * 4096)]))
    path.write_bytes(data[:-9] + b"\xff\xff\xff\xff" + data[-5:])
    assert main(["extract", str(path), "--directory", str(tmp_path / "code"), "--target", "gfx1100"]) == 2
    assert f"rocm-wheels code: {path}: at file offset 0x" in capsys.readouterr().err
    assert not [one for one in (tmp_path / "code").iterdir() if one.name.endswith(".partial")]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["list", "absent"], "absent"),
        (["extract", "absent", "--directory", "d", "--target", "sm_70"], "target ID 'sm_70': expected a processor"),
    ],
)
def test_mistakes(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert reason in capsys.readouterr().err
