"""Tests of packing for several packages at once: device code is sliced, and what they share is deflated once."""

import io
import json
import random
import zlib
from pathlib import Path
from typing import Any

import pytest

from develop.testing.device_sample import HOST, PREFIX, Part, Sample, bundle, compressed
from lib.deflate import library as deflate_library
from lib.deflate.library import BLOCK_BYTES, FINAL_BLOCK
from lib.device.reader import read_device_code
from lib.pack import packer
from lib.pack.segment import SegmentIndex
from tools.actions.pack.tool import main

NAME = "a_lib_gfx9-all"
TARGETS = ("gfx1030", "gfx90a")
CODE = {target: random.Random(target).randbytes(3 * BLOCK_BYTES // 2) for target in TARGETS}
SHARED = random.Random(0).randbytes(5 * BLOCK_BYTES // 2)


def fat(*targets: str) -> bytes:
    entries = [(HOST, b""), *((PREFIX + target, CODE[target]) for target in targets)]
    return Sample((Part(bundle(entries)),)).build() + SHARED


class Unit:
    """A unit of one file, packed for several packages."""

    def __init__(self, directory: Path, content: bytes) -> None:
        self.directory = directory
        (directory / "file").write_bytes(content)
        entry = {"base": "stage", "path": "lib/a.so", "kind": "file", "file": "../r/a"}
        (directory / "manifest").write_text(json.dumps({"artifact": NAME, "entries": [entry]}), encoding="utf-8")

    def pack(self, *changes: dict[str, Any] | None) -> int:
        """Pack the file with each of the changes; None for a package that does not have it. Returns the exit code."""
        arguments = ["--label=//:thin", f"--artifact={NAME}", f"--manifest={self.directory}/manifest"]
        for number, change in enumerate(changes):
            edit = {"path": "lib/a.so", "mode": "0755", "source": f"{NAME}/stage/lib/a.so"}
            entries = [] if change is None else [edit | change]
            (self.directory / f"edits{number}").write_text(json.dumps({"entries": entries, "digest": []}), "utf-8")
            arguments += [f"--{name}={self.directory}/{name}{number}" for name in ("edits", "segment", "index")]
        params = self.directory / "params"
        params.write_text("\n".join([*arguments, f"--file=../r/a={self.directory}/file"]) + "\n", encoding="utf-8")
        return main([f"@{params}"])

    def index(self, number: int) -> SegmentIndex:
        """Read an index."""
        return SegmentIndex.from_document(json.loads((self.directory / f"index{number}").read_text(encoding="utf-8")))

    def segment(self, number: int) -> bytes:
        """Read a segment."""
        return (self.directory / f"segment{number}").read_bytes()

    def content(self, number: int) -> bytes:
        """Inflate the file."""
        return zlib.decompress(self.segment(number) + FINAL_BLOCK, -zlib.MAX_WBITS)


def code_of(content: bytes) -> dict[str, bytes]:
    """Return the device code of a library, by target."""
    device = read_device_code(io.BytesIO(content), "a.so")
    at = device.bundles[0].offset
    return {
        str(code.entry.target): content[at + code.offset : at + code.end]
        for code in device.code_objects()
        if code.entry.target
    }


def test_each_package_has_its_code_and_all_else(tmp_path: Path) -> None:
    unit = Unit(tmp_path, fat(*TARGETS))
    assert unit.pack(*({"slice": [target]} for target in TARGETS)) == 0
    for number, target in enumerate(TARGETS):
        content = unit.content(number)
        assert code_of(content) == {target: CODE[target]}
        assert content.endswith(SHARED)
        assert unit.index(number).entries[0].size == len(content) < len(fat(*TARGETS)) - len(CODE[target]) + 5000


def test_what_packages_share_is_deflated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deflated = []

    def deflate_block(data: bytes, level: int, **options: Any) -> bytes:
        deflated.append(data)
        return deflate_library.deflate_block(data, level, **options)

    monkeypatch.setattr(packer, "deflate_block", deflate_block)
    unit = Unit(tmp_path, fat(*TARGETS))
    assert unit.pack(*({"slice": [target]} for target in TARGETS)) == 0
    assert sum(map(len, deflated)) < len(SHARED) + sum(map(len, CODE.values())) + 100_000
    unit.pack({}, {})
    assert unit.segment(0) == unit.segment(1)
    assert unit.content(0) == fat(*TARGETS)


def test_the_same_bytes_together_and_alone(tmp_path: Path) -> None:
    unit = Unit(tmp_path, fat(*TARGETS))
    together = []
    assert unit.pack({"slice": ["gfx1030"]}, None, {"slice": ["gfx90a"]}, {}) == 0
    assert unit.index(1).entries == ()
    together = [(unit.segment(number), unit.index(number)) for number in (0, 2, 3)]
    alone = []
    for change in ({"slice": ["gfx1030"]}, {"slice": ["gfx90a"]}, {}):
        assert unit.pack(change) == 0
        alone.append((unit.segment(0), unit.index(0)))
    assert together == alone
    (tmp_path / "empty").mkdir()
    unit = Unit(tmp_path / "empty", fat(*TARGETS))
    assert unit.pack(None, None) == 0
    assert [(unit.segment(number), unit.index(number).entries) for number in range(2)] == [(b"", ())] * 2


def test_code_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unit = Unit(tmp_path, fat("gfx90a"))
    assert unit.pack({"slice": ["gfx1030"]}) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"ERROR: //:thin: {NAME}/stage/lib/a.so: at file offset 0x")
    assert "no code that gfx1030 can load; there is code for gfx90a" in error
    assert unit.pack({"slice": ["gfx1030"], "absent": ["gfx1030"]}) == 0
    assert code_of(unit.content(0)) == {}


def test_damaged_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = bytearray(fat(*TARGETS))
    at = content.index(b"__CLANG_OFFLOAD_BUNDLE__")
    content[at + 24 : at + 32] = b"\xff" * 8
    assert Unit(tmp_path, bytes(content)).pack({"slice": ["gfx1030"]}) == 1
    assert "Its device code cannot be sliced: exclude the file from the package" in capsys.readouterr().err


def test_damaged_compressed_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is found where the code is inflated, which may be long after all was planned."""
    entries = [(HOST, b""), *((PREFIX + target, CODE[target]) for target in TARGETS)]
    content = bytearray(Sample((Part(compressed(bundle(entries))),)).build())
    content[content.index(b"CCOB") + len(CODE["gfx1030"])] ^= 1
    for rpath in ({}, {"rpath": ["$ORIGIN"]}):
        assert Unit(tmp_path, bytes(content)).pack({"slice": ["gfx1030"], **rpath}) == 1
        error = capsys.readouterr().err
        assert "device code cannot be inflated with zlib" in error or "digest" in error
        assert error.endswith(". Its device code cannot be sliced: exclude the file from the package\n")


def test_as_many_segments_as_edit_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unit = Unit(tmp_path, b"a")
    assert unit.pack({}) == 0
    with (tmp_path / "params").open("a", encoding="utf-8") as params:
        params.write(f"--edits={tmp_path}/edits0\n")
    assert main([f"@{tmp_path}/params"]) == 1
    assert "2 --edits, 1 --segment, 1 --index: expected as many of each" in capsys.readouterr().err
