"""Tests of the reader of segments: each path of a plan has its run."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from develop.testing.artifacts import artifact, file, library
from lib.common.program import ToolError
from lib.pack.packed_tree import packed_run, read_tree
from lib.pack.segment import Packed, SegmentIndex
from lib.plan.model import Definition, Plan
from lib.wheel.deflated_run import join, small_run
from tools.actions.plan.tool import make_plan

CORE = Definition("core", "runtime", "_core")


def core() -> Plan:
    artifacts = [artifact("one_lib_generic", file("a"), file("b")), artifact("two_lib_generic", file("a"), file("c"))]
    return make_plan(CORE, artifacts, [])


def unit(directory: Path, name: str, paths: Iterable[str], digests: dict[str, str]) -> tuple[str, str]:
    """Write a unit's index and segment; return their paths."""
    entries, segment = [], b""
    for path in paths:
        run = small_run(path.encode())
        entries.append(Packed(path, "0644", len(segment), run.length, run.size, run.crc32, "00"))
        segment += run.data
    (directory / f"{name}.seg").write_bytes(segment)
    (directory / f"{name}.json").write_text(json.dumps(SegmentIndex(tuple(entries), digests).to_document()))
    return str(directory / f"{name}.json"), str(directory / f"{name}.seg")


def test_every_path_has_its_run(tmp_path: Path) -> None:
    units = [
        unit(tmp_path, "one", "ab", {"one_lib_generic/stage/a": "aa"}),
        unit(tmp_path, "two", "c", {"two_lib_generic/stage/a": "aa"}),
    ]
    tree = read_tree(core(), [index for index, _ in units], [segment for _, segment in units])
    assert tree.runs.keys() == tree.packed.keys() == {"a", "b", "c"}
    for path, run in tree.runs.items():
        assert b"".join(run.chunks()) == small_run(path.encode()).data


def test_different_content_for_one_path_names_both_sources_and_the_remedy(tmp_path: Path) -> None:
    one = unit(tmp_path, "one", "ab", {"one_lib_generic/stage/a": "ab" * 32})
    two = unit(tmp_path, "two", "c", {"two_lib_generic/stage/a": "cd" * 32})
    with pytest.raises(ToolError) as error:
        read_tree(core(), [one[0], two[0]], [one[1], two[1]])
    assert str(error.value) == (
        "one_lib_generic/stage/a and two_lib_generic/stage/a have one path in package core, but different content "
        "(SHA-256 abababababab… and cdcdcdcdcdcd…); expected equal content. Remove one of them, or give it another name"
    )


def test_different_libraries_of_one_soname_and_size_are_named(tmp_path: Path) -> None:
    found = [library(f"lib/liba.so.1{tail}", "liba.so.1") for tail in ("", ".2")]
    planned = make_plan(replace(CORE, exclude=("lib/liba.so",)), [artifact("a_lib_x", *found)], [])
    stage = "a_lib_x/stage/lib/liba.so.1"
    one = unit(tmp_path, "one", ["lib/liba.so.1"], {stage: "ab" * 32, f"{stage}.2": "cd" * 32})
    with pytest.raises(ToolError) as error:
        read_tree(planned, [one[0]], [one[1]])
    assert str(error.value) == (
        f"{stage} and {stage}.2 have one SONAME and size in package core, but different content (SHA-256 abababababab… "
        "and cdcdcdcdcdcd…); expected equal content. Exclude one of them, or link it with another SONAME"
    )


@pytest.mark.parametrize(("paths", "listed"), [("a", r"\['b', 'c'\]"), ("abcd", r"\['d'\]")])
def test_plan_and_segments_have_to_agree(tmp_path: Path, paths: str, listed: str) -> None:
    digests = {"one_lib_generic/stage/a": "aa", "two_lib_generic/stage/a": "aa"}
    index, segment = unit(tmp_path, "one", paths, digests)
    with pytest.raises(ToolError, match=f"core: plan and segments disagree about {listed}"):
        read_tree(core(), [index], [segment])


def test_a_run_lies_in_a_segment(tmp_path: Path) -> None:
    first, second = small_run(b"first"), small_run(b"second" * 400_000)
    segment = tmp_path / "segment"
    segment.write_bytes(first.data + second.data + b"more")
    packed = Packed("p", "0644", first.length, second.length, second.size, second.crc32, "")
    joined = join([small_run(b"head"), packed_run(packed, str(segment))])
    assert b"".join(joined.inflated()) == b"head" + b"second" * 400_000
