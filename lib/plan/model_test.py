"""Tests of the documents that hold plans."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.plan.model import Definition, Entry, Facts, Kind, Plan, Slice, Treatment, matches

TEXTS = st.text(max_size=8)
ENTRIES = st.builds(
    Entry,
    path=TEXTS,
    kind=st.sampled_from(Kind),
    treatment=st.sampled_from(Treatment),
    reason=TEXTS,
    source=TEXTS,
    mode=st.sampled_from(["0644", "0755", "0444"]),
    link=st.none() | TEXTS,
    target=st.none() | TEXTS,
    rpath=st.none() | st.lists(TEXTS, max_size=3).map(tuple),
    type=st.none() | TEXTS,
    soname=st.none() | TEXTS,
    machine=st.none() | st.integers(),
)
PLANS = st.builds(
    Plan,
    package=TEXTS,
    tree=TEXTS,
    per_target=st.booleans(),
    entries=st.lists(ENTRIES, max_size=4).map(tuple),
    equal_sources=st.lists(st.tuples(TEXTS, TEXTS), max_size=3).map(tuple),
    target_trees=st.lists(TEXTS, max_size=3).map(tuple),
)


@given(PLANS)
def test_a_plan_is_what_was_written(plan: Plan) -> None:
    assert Plan.from_document(json.loads(json.dumps(plan.to_document()))) == plan


def test_the_document_reads_well() -> None:
    entry = Entry("bin/a", Kind.LINK, Treatment.LAUNCHER, "why", "x/stage/bin/a", "0755", link="b", target="b")
    assert entry.to_document() == {
        "path": "bin/a",
        "kind": "link",
        "treatment": "launcher",
        "reason": "why",
        "source": "x/stage/bin/a",
        "mode": "0755",
        "link": "b",
        "target": "b",
    }


def test_an_empty_rpath_is_not_none() -> None:
    entry = Entry("lib/a", Kind.FILE, Treatment.PATCH, "", "", rpath=())
    assert entry.to_document()["rpath"] == []
    assert replace(entry, rpath=None).to_document().get("rpath", "absent") == "absent"


def test_packed_files() -> None:
    packed = {t for t in Treatment if Entry("a", Kind.FILE, t, "", "").is_packed_file}
    assert packed == set(Treatment) - {Treatment.ALIAS_OF, Treatment.LINK_TO, Treatment.OTHER_TARGET, Treatment.DROP}
    assert not Entry("a", Kind.DIRECTORY, Treatment.KEEP, "", "").is_packed_file


def test_definition() -> None:
    document = {"package": "core", "kind": "runtime", "tree": "_core", "exclude": ["a", "b"], "rpath": []}
    assert Definition.from_document(document) == Definition("core", "runtime", "_core", exclude=("a", "b"))


def test_names_are_of_targets_of_the_set_and_of_those_left_out() -> None:
    declared = Slice(("gfx1030",), ("gfx1030", "gfx90a-next"), left_out=("gfx1299-strict",))
    paths = ("lib/K_gfx1030.co", "lib/K_gfx90a-next.co", "lib/K_gfx1299-strict.co", "lib/K.co")
    assert [declared.named(path) for path in paths] == [("gfx1030",), ("gfx90a-next",), ("gfx1299-strict",), ()]


def test_facts_leave_out_what_no_plan_needs() -> None:
    document = {"size": 7, "type": "elf-library", "rpath": ["$ORIGIN"], "interpreter": "/lib/ld.so", "machine": 62}
    assert Facts.from_document("u", document) == Facts("u", 7, "elf-library", rpath=("$ORIGIN",), machine=62)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("lib/*.so", "lib/liba.so"),
        ("lib/lib?.so", "lib/liba.so"),
        ("**/cmake/**", "cmake/a.cmake"),
        ("**/cmake/**", "lib/x/cmake/hip/a.cmake"),
        ("lib/**", "lib/a/b/c"),
        ("lib/**/c", "lib/c"),
        ("lib/**/c", "lib/a/b/c"),
        ("**", "any/thing"),
        ("a+b (1).[so]", "a+b (1).[so]"),
    ],
)
def test_matches(pattern: str, path: str) -> None:
    assert matches(path, (pattern,)) == pattern


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("lib/*.so", "lib/a/liba.so"),
        ("*.so", "lib/liba.so"),
        ("lib/lib?.so", "lib/lib.so"),
        ("lib/lib?.so", "lib/lib/.so"),
        ("**/cmake/**", "lib/cmake"),
        ("**/cmake/**", "lib/notcmake/x"),
        ("lib/**", "lib"),
        ("lib", "lib/a"),
        ("a.so", "abso"),
        ("[ab]", "a"),
    ],
)
def test_does_not_match(pattern: str, path: str) -> None:
    assert matches(path, (pattern,)) is None


def test_first_matching_pattern_is_named() -> None:
    assert matches("lib/a", ("bin/*", "lib/*", "**")) == "lib/*"
    assert matches("lib/a", ()) is None
