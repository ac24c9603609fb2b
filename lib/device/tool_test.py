"""The command line: what it prints and writes, and how it fails."""

import hashlib
import json
from pathlib import Path

import pytest

from develop.testing.device_sample import HOST, PREFIX, Part, Sample, bundle, compressed
from lib.device.inflate import CHUNK
from lib.device.model import Pointer
from lib.device.tool import main

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


def test_list(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", str(library)]) == 0
    size = -(-len(PLAIN) // 4096) * 4096 + 4096 + len(LATER)
    assert capsys.readouterr().out.splitlines() == [
        f"{library}: 3 bundles (1 plain, 2 zlib (CCOB version 3)), 2 wrappers, {size} bytes",
        "  1 bundles have no wrapper: HIP does not see them",
        "  gfx1030                       3 code objects             15 bytes",
        "  gfx11-generic                 1 code objects              6 bytes",
        f"  gfx90a:xnack+                 1 code objects {6 * CHUNK:>14} bytes",
        "  gfx90a:xnack-                 1 code objects              5 bytes",
    ]


def test_list_hashes(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--hashes", str(library)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"  bundle at 0x1000, plain, {len(PLAIN)} bytes" in lines
    for target, code in CODE.items():
        assert f"    {hashlib.sha256(code).hexdigest()}  {len(code):>10}  {PREFIX}{target}" in lines


def test_list_json(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("no device code here")
    assert main(["list", "--json", "--hashes", str(library), str(other)]) == 0
    found, none = json.loads(capsys.readouterr().out)
    assert none == {"path": str(other), "spans": [], "bundles": [], "wrappers": [], "split_wrappers": []}
    assert found["bundles"][0]["compression"] is None
    assert found["bundles"][1]["compression"]["method"] == "zlib"
    assert found["bundles"][0]["code_objects"][2] == {
        "id": f"{PREFIX}gfx90a:xnack+",
        "kind": "hipv4",
        "triple": "amdgcn-amd-amdhsa",
        "target": "gfx90a:xnack+",
        "offset": 8192,
        "size": 6 * CHUNK,
        "sha256": hashlib.sha256(CODE["gfx90a:xnack+"]).hexdigest(),
    }
    assert [wrapper["pointer"] for wrapper in found["wrappers"]] == ["R_*_RELATIVE", "RELR"]
    assert found["wrappers"][0]["bundle_offset"] == found["bundles"][0]["offset"] == 4096


def test_json_without_hashes_reads_no_code(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json", str(library)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert all("sha256" not in code for one in found["bundles"] for code in one["code_objects"])


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
    assert main(["extract", str(path), "--directory", str(tmp_path / "code"), "--target", "gfx1100"]) == 1
    assert f"device: {path}: at file offset 0x" in capsys.readouterr().err
    assert not [one for one in (tmp_path / "code").iterdir() if one.name.endswith(".partial")]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["list", "absent"], "absent"),
        (["extract", "absent", "--directory", "d", "--target", "sm_70"], "target ID 'sm_70': expected a processor"),
    ],
)
def test_mistakes(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    assert reason in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert "A bundle has a code object for each GPU target" in out
    assert "device extract lib/librocblas.so.4 --directory /tmp/code --target gfx1030" in out


def test_slice(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library.chmod(0o751)
    output = tmp_path / "sliced.so"
    assert main(["slice", str(library), "--targets", "gfx1030", "--output", str(output)]) == 0
    assert capsys.readouterr().out == f"{output}: {library.stat().st_size} -> {output.stat().st_size} bytes\n"
    assert output.stat().st_mode & 0o7777 == 0o751
    assert main(["list", str(output)]) == 0
    assert [line.split()[:3] for line in capsys.readouterr().out.splitlines()[2:]] == [["gfx1030", "3", "code"]]


def test_slice_without_code(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "sliced.so"
    command = ["slice", str(library), "--output", str(output), "--targets", "gfx1030", "gfx1200"]
    assert main(command) == 1
    assert "no code that gfx1200 can load; there is code for gfx1030, gfx11-generic," in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["libsample.so"]
    assert main([*command, "--absent", "gfx1200"]) == 0
    assert output.exists()


def test_slice_of_a_damaged_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "code.hipfb"
    path.write_bytes(compressed(PLAIN, 2)[:-4] + b"four")
    assert main(["slice", str(path), "--targets", "gfx1030", "--output", str(path)]) == 1
    assert f"device: {path}: at file offset" in capsys.readouterr().err
    assert path.read_bytes().endswith(b"four")
    assert list(tmp_path.iterdir()) == [path]
