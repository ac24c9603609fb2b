"""Tests of the pack tool: from an edit file and sources to a segment and its index."""

import hashlib
import io
import json
import random
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from develop.testing.elf_sample import Sample
from develop.testing.tiny_elf import program, relocatable
from lib.common.program import ToolError
from lib.deflate.library import BLOCK_BYTES, FINAL_BLOCK
from lib.elf import constants as c
from lib.pack.content import Slices, entry_blocks
from lib.pack.segment import Packed, SegmentIndex
from lib.pack.stand_ins import SECTION
from lib.plan.edits import Edit
from tools.actions.pack.tool import main

NAME = "a_lib_generic"
NO_SLICES = Slices(1, ThreadPoolExecutor(1), Path())


class Unit:
    """A unit in a directory: its sources, edit file, and what pack makes of them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files: dict[str, bytes] = {}
        (directory / "launcher").write_bytes(program(SECTION, bytes(64)))

    def pack(self, *entries: dict[str, Any], digest: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> int:
        """Run the tool; return its exit code."""
        manifest = [
            {"base": "stage", "path": path, "kind": "file", "mode": "0644", "file": f"../r/{path}"}
            for path in self.files
        ]
        (self.directory / "manifest").write_text(json.dumps({"artifact": NAME, "entries": manifest}), encoding="utf-8")
        sources = [f"{NAME}/stage/{path}" for path in digest]
        (self.directory / "edits").write_text(json.dumps({"entries": entries, "digest": sources}), encoding="utf-8")
        located = []
        for number, (path, content) in enumerate(self.files.items()):
            (self.directory / f"file{number}").write_bytes(content)
            located.append(f"--file=../r/{path}={self.directory}/file{number}")
        arguments = ["--label=//:core", f"--artifact={NAME}"]
        arguments += [f"--{name}={self.directory}/{name}" for name in ("edits", "manifest", "segment", "index")]
        params = self.directory / "params"
        params.write_text("\n".join([*arguments, *options, *located]) + "\n", encoding="utf-8")
        return main([f"@{params}"])

    @property
    def index(self) -> SegmentIndex:
        """Read the index."""
        return SegmentIndex.from_document(json.loads((self.directory / "index").read_text(encoding="utf-8")))

    @property
    def segment(self) -> bytes:
        """Read the segment."""
        return (self.directory / "segment").read_bytes()

    def content(self, packed: Packed) -> bytes:
        """Inflate an entry; what the index says of it has to be right."""
        run = self.segment[packed.offset : packed.offset + packed.length]
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        content = inflater.decompress(run + FINAL_BLOCK)
        assert inflater.eof
        assert packed.size == len(content)
        assert packed.crc32 == zlib.crc32(content)
        assert packed.sha256 == hashlib.sha256(content).hexdigest()
        return content


@pytest.fixture
def unit(tmp_path: Path) -> Unit:
    return Unit(tmp_path)


def keep(path: str, mode: str = "0644") -> dict[str, Any]:
    return {"path": path, "mode": mode, "source": f"{NAME}/stage/{path}"}


def dynamic(content: bytes) -> dict[str, list[str]]:
    """Read the strings of the dynamic section with pyelftools."""
    section = ELFFile(io.BytesIO(content)).get_section_by_name(".dynamic")
    assert isinstance(section, DynamicSection)
    found: dict[str, list[str]] = {}
    for tag in section.iter_tags():
        if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH", "DT_SONAME", "DT_NEEDED"):
            found.setdefault(tag.entry.d_tag, []).append(getattr(tag, tag.entry.d_tag[3:].lower()))
    return found


def test_files_follow_each_other_and_the_index_says_where(unit: Unit) -> None:
    unit.files = {"share/ï = :": b"text" * 999, "empty": b"", "noise": random.Random(1).randbytes(3 << 20)}
    assert unit.pack(*(keep(path, "0444") for path in unit.files)) == 0
    packed = unit.index.entries
    assert [(one.path, one.mode) for one in packed] == [(path, "0444") for path in unit.files]
    assert [unit.content(one) for one in packed] == list(unit.files.values())
    assert [one.offset for one in packed] == [0, packed[0].length, packed[0].length]
    assert sum(one.length for one in packed) == len(unit.segment)
    assert packed[0].length < 100
    assert packed[1].length == 0
    assert packed[2].length < packed[2].size + 2000


def test_the_same_bytes_from_any_number_of_threads(unit: Unit) -> None:
    unit.files = {"a": random.Random(1).randbytes(2000) * 2000, "b": b"b"}
    segments, indexes = set(), set()
    for threads in (1, 2, 3, 4):
        assert unit.pack(keep("a"), keep("b"), options=(f"--threads={threads}", "--compression=fast")) == 0
        segments.add(unit.segment)
        indexes.add(unit.index.entries)
    assert len(segments) == len(indexes) == 1


def test_compression_small_is_smaller(unit: Unit) -> None:
    unit.files = {"a": b"".join(f"{number * number % 9973} of {number}\n".encode() for number in range(9999))}
    sizes = []
    for compression in ("small", "balanced"):
        assert unit.pack(keep("a"), options=(f"--compression={compression}",)) == 0
        sizes.append(len(unit.segment))
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize(
    "sample",
    [
        Sample(runpath="/build/lib:$ORIGIN/../lib"),
        Sample(rpath="$ORIGIN/a/rather/long/search/path/that/leaves/room"),
        Sample(spare=0),
        Sample(machine=c.EM_AARCH64, runpath="$ORIGIN"),
    ],
    ids=["RUNPATH", "RPATH", "neither", "aarch64"],
)
def test_rpath_is_written_in_flight(unit: Unit, sample: Sample) -> None:
    unit.files = {"lib/libsample.so.1": sample.build()}
    assert unit.pack(keep("lib/libsample.so.1", "0555") | {"rpath": ["$ORIGIN", "$ORIGIN/../../_core/lib"]}) == 0
    content = unit.content(unit.index.entries[0])
    assert content != unit.files["lib/libsample.so.1"]
    assert dynamic(content) == {
        "DT_SONAME": ["libsample.so.1"],
        "DT_NEEDED": ["libc.so.6"],
        "DT_RPATH": ["$ORIGIN:$ORIGIN/../../_core/lib"],
    }


def test_an_empty_runpath_goes_though_the_rpath_is_as_wished(unit: Unit) -> None:
    unit.files = {"lib/libsample.so.1": Sample(rpath="$ORIGIN", runpath="").build()}
    assert unit.pack(keep("lib/libsample.so.1") | {"rpath": ["$ORIGIN"]}) == 0
    found = dynamic(unit.content(unit.index.entries[0]))
    assert (found["DT_RPATH"], "DT_RUNPATH" in found) == (["$ORIGIN"], False)


def test_what_an_edit_gives_up_is_noted(unit: Unit) -> None:
    unit.files = {"lib/spare.so": Sample().build(), "lib/full.so": Sample(spare=0).build()}
    assert unit.pack(*(keep(path) | {"rpath": ["$ORIGIN"]} for path in ("lib/spare.so", "lib/full.so"))) == 0
    moved = "the dynamic section moved out of PT_GNU_RELRO: it stays writable after relocation"
    assert unit.index.notes == {"lib/full.so": [moved]}


def test_an_empty_rpath_takes_away_what_is_there(unit: Unit) -> None:
    unit.files = {"lib/libsample.so.1": Sample(runpath="/build/lib").build()}
    assert unit.pack(keep("lib/libsample.so.1") | {"rpath": []}) == 0
    assert dynamic(unit.content(unit.index.entries[0])).keys() == {"DT_SONAME", "DT_NEEDED"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"#!/bin/sh\nexit 0", "not an ELF file"),
        (relocatable(), "only programs and shared libraries are edited"),
        (program(".text", b"\xc3"), "there is no dynamic section"),
        (Sample().build()[:1000], "truncated or damaged"),
    ],
    ids=["text", "object", "static", "truncated"],
)
def test_what_cannot_be_patched_stops_the_build(
    unit: Unit, content: bytes, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    unit.files = {"lib/a": content}
    assert unit.pack(keep("lib/a") | {"rpath": ["$ORIGIN"]}) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"ERROR: //:core: {NAME}/stage/lib/a")
    assert reason in error
    assert error.endswith("Its RPATH cannot be set: exclude the file from the package, or link it differently\n")
    assert not (unit.directory / "index").exists()


def test_launcher(unit: Unit, capsys: pytest.CaptureFixture[str]) -> None:
    edit = {"path": "bin/clang++", "mode": "0755", "made": "launcher", "target": "../lib/llvm/bin/clang-20"}
    assert unit.pack(edit, options=(f"--launcher={unit.directory}/launcher",)) == 0
    (packed,) = unit.index.entries
    assert (packed.path, packed.mode) == ("bin/clang++", "0755")
    section = ELFFile(io.BytesIO(unit.content(packed))).get_section_by_name(SECTION)
    assert section
    assert section.data() == b"../lib/llvm/bin/clang-20".ljust(64, b"\0")
    assert unit.pack(edit) == 1
    assert "bin/clang++: needs a launcher; expected the rule to give one" in capsys.readouterr().err


def test_launcher_for_another_cpu(unit: Unit, capsys: pytest.CaptureFixture[str]) -> None:
    edit = {"path": "bin/a", "mode": "0755", "made": "launcher", "target": "b", "machine": c.EM_AARCH64}
    assert unit.pack(edit, options=(f"--launcher={unit.directory}/launcher",)) == 1
    assert "ERROR: //:core: bin/a: its launcher is for x86_64, but b, which it" in capsys.readouterr().err
    assert unit.pack(edit | {"machine": c.EM_X86_64}, options=(f"--launcher={unit.directory}/launcher",)) == 0


def test_forwarder(unit: Unit) -> None:
    edit = {
        "path": "lib/libfoo.so",
        "mode": "0755",
        "made": "forwarder",
        "target": "libfoo.so.1",
        "machine": c.EM_AARCH64,
    }
    assert unit.pack(edit) == 0
    (packed,) = unit.index.entries
    assert (packed.path, packed.mode) == ("lib/libfoo.so", "0755")
    assert dynamic(unit.content(packed)) == {
        "DT_NEEDED": ["libfoo.so.1"],
        "DT_SONAME": ["libfoo.so"],
        "DT_RPATH": ["$ORIGIN"],
    }


@pytest.mark.parametrize("rpath", [None, ("$ORIGIN",)])
def test_a_file_that_changes_while_it_is_read_stops_the_build(tmp_path: Path, rpath: tuple[str, ...] | None) -> None:
    """Bazel sees it, too, but keeps the result for this build."""
    path = tmp_path / "file"
    path.write_bytes(Sample(soname="liba.so.1").build() + bytes(3 * BLOCK_BYTES))
    entry = Edit("lib/liba.so.1", "0644", source="source", rpath=rpath)
    blocks = entry_blocks(entry, {"source": str(path)}, None, NO_SLICES, {})
    next(blocks)
    with path.open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"x")
    with pytest.raises(ToolError, match="source: was changed while it was read"):
        list(blocks)


def test_digests_are_of_the_sources_as_they_are(unit: Unit) -> None:
    unit.files = {"lib/a": Sample().build(), "lib/b": b"b"}
    assert unit.pack(keep("lib/a") | {"rpath": ["$ORIGIN"]}, digest=("lib/a", "lib/b")) == 0
    assert unit.index.source_sha256 == {
        f"{NAME}/stage/{path}": hashlib.sha256(content).hexdigest() for path, content in unit.files.items()
    }
    assert unit.index.entries[0].sha256 != unit.index.source_sha256[f"{NAME}/stage/lib/a"]


def test_a_unit_without_entries_packs_nothing(unit: Unit) -> None:
    unit.files = {"a": b"a"}
    assert unit.pack() == 0
    assert (unit.segment, unit.index) == (b"", SegmentIndex((), {}))
    assert unit.pack(digest=("a",)) == 0
    assert (unit.segment, list(unit.index.source_sha256)) == (b"", [f"{NAME}/stage/a"])
