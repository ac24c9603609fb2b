"""Tests of the plan tool: what each unit has to do, and the documents in and out."""

import json
import posixpath
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from develop.testing.artifacts import artifact, directory, file, library, link, plan, program
from lib.common.program import ToolError
from lib.plan.model import OTHER_NAMES, Artifact, Definition, Facts, Found, Kind, Plan, Treatment
from tools.actions.plan.prefix import Prefix, merge
from tools.actions.plan.tool import edits_by_unit, main, make_plan, read_artifact

CORE = Definition("core", "runtime", "_core", exclude=("x/**",), rpath=("_core/lib",), allow_unmatched=("_core/lib",))
NAMES = st.sampled_from(["a", "b", "lib", "libx.so", "libx.so.1", "x"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TEXTS = st.lists(st.sampled_from(["..", ".", "a", "b", "lib", "libx.so.1", "x"]), min_size=1, max_size=3).map("/".join)
FOUND = st.one_of(
    PATHS.map(file),
    PATHS.map(directory),
    PATHS.map(program),
    st.builds(file, PATHS, st.just("script"), st.sampled_from(["0644", "0755"])),
    st.builds(library, PATHS, st.sampled_from([None, "libx.so.1", "libx.so"]), size=st.sampled_from([1, 2])),
    st.builds(link, PATHS, TEXTS),
)
ARTIFACTS = st.lists(st.lists(FOUND, max_size=6, unique_by=lambda found: found.path), max_size=3).map(
    lambda found: [artifact(f"n{number}_lib_generic", *some) for number, some in enumerate(found)]
)


def planned(artifacts: list[Artifact], kind: str) -> dict[str, Any] | str:
    """Return the plan as a document, or the error."""
    core = plan(Definition("base", "runtime", "_base"), library("lib/libx.so.1", "libx.so.1"), link("lib/b", "nowhere"))
    try:
        return make_plan(
            Definition("p", kind, "_p", exclude=("x/**",), rpath=("_p/lib",)), artifacts, [core]
        ).to_document()
    except ToolError as error:
        return str(error)


@given(ARTIFACTS, st.sampled_from(["runtime", "devel"]), st.randoms())
def test_the_order_of_the_inputs_does_not_matter(artifacts: list[Artifact], kind: str, random: Any) -> None:
    shuffled = [Artifact(one.name, tuple(random.sample(one.found, len(one.found)))) for one in artifacts]
    random.shuffle(shuffled)
    assert planned(shuffled, kind) == planned(artifacts, kind)


@given(ARTIFACTS, st.sampled_from(["runtime", "devel"]))
def test_every_plan_can_be_read_and_packed(artifacts: list[Artifact], kind: str) -> None:
    document = planned(artifacts, kind)
    if isinstance(document, str):
        return
    made = Plan.from_document(document)
    paths = [entry.path for entry in made.entries]
    assert paths == sorted(set(paths))
    assert all(entry.reason for entry in made.entries)
    facts = {found.source: found.facts for one in artifacts for found in one.found if found.facts}
    edits = edits_by_unit(made, facts, {one.name: f"{one.name}/small" for one in artifacts})
    packed = [entry.path for edit in edits.values() for entry in edit.entries]
    assert sorted(packed) == [entry.path for entry in made.entries if entry.is_packed_file]
    merged, _ = merge(artifacts, lambda path: path.startswith("x/"))
    prefix = Prefix(merged, [])
    for entry in made.entries:
        if entry.treatment is Treatment.LAUNCHER and kind == "runtime":
            resolved = prefix.resolve(entry.path)
            assert resolved
            assert resolved.node.kind is Kind.FILE


#: Names of libraries in one directory, and what is there.
SONAMES = st.sampled_from(["libx.so", "libx.so.1", "libx.so.1.1", "libx.so.1.2", "liby.so"])
LIBRARIES = st.one_of(
    st.builds(library, SONAMES.map("lib/{}".format), SONAMES, size=st.sampled_from([1, 2])),
    st.builds(link, SONAMES.map("lib/{}".format), SONAMES),
    SONAMES.map("lib/{}/x".format).map(file),
)


@given(st.lists(LIBRARIES, max_size=6, unique_by=lambda found: found.path), SONAMES)
def test_no_library_is_lost(found: list[Found], exclude: str) -> None:
    """A library that no pattern excludes is packed, or compared with the library that is packed under its SONAME."""
    try:
        made = plan(Definition("p", "runtime", "_p", exclude=(f"lib/{exclude}",)), *found)
    except ToolError:
        return
    packed = {entry.path: entry.source for entry in made.entries if entry.is_packed_file}
    for entry in made.entries:
        if entry.kind is Kind.FILE and entry.treatment in OTHER_NAMES and entry.source not in packed.values():
            under_soname = packed[posixpath.join(posixpath.dirname(entry.path), entry.target or "")]
            assert (under_soname, entry.source) in made.equal_sources
        elif entry.kind is Kind.FILE:
            assert entry.source in packed.values() or entry.reason.startswith("excluded by")
        if entry.treatment is Treatment.ALIAS_OF:
            assert posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), entry.target or "")) in packed


def leads_to(path: str, devel: Plan, below: Plan) -> str | None:
    """Follow the links of a devel tree; return the source of the bytes, None if they lead nowhere or in a circle."""
    entries = {posixpath.join(plan.tree, entry.path): entry for plan in (devel, below) for entry in plan.entries}
    here = posixpath.join(devel.tree, path)
    for _ in entries:
        entry = entries.get(here)
        if entry is None or entry.treatment is not Treatment.LINK_TO:
            return entry.source if entry and entry.is_packed_file else None
        here = posixpath.normpath(posixpath.join(posixpath.dirname(here), entry.target or ""))
    return None


@given(st.lists(LIBRARIES, max_size=6, unique_by=lambda found: found.path), st.lists(SONAMES, max_size=2), st.data())
def test_every_library_of_the_devel_tree_leads_to_its_bytes(found: list[Found], exclude: list[str], data: Any) -> None:
    """Whatever the package below leaves out, and whatever this one lacks."""
    patterns = tuple(f"lib/{name}" for name in exclude)
    libraries = artifact("a_lib_x", *found)
    try:
        core = make_plan(Definition("core", "runtime", "_core", exclude=patterns), [libraries], [])
        some = Artifact(libraries.name, tuple(one for one in libraries.found if data.draw(st.booleans())))
        devel = make_plan(Definition("devel", "devel", "_devel"), [some], [core])
    except ToolError:
        return
    equal = {frozenset(pair) for pair in core.equal_sources}
    for one in some.found:
        if one.kind is Kind.FILE:
            source = leads_to(one.path, devel, core)
            assert source == one.source or frozenset((source, one.source)) in equal


def documents(
    directory_: Path, artifacts: dict[str, list[Found]], kind: str = "runtime", **declared: object
) -> list[str]:
    """Write manifests, facts and the definition as the rules give them; return the arguments of the tool."""
    arguments = [f"--definition={directory_}/definition.json", f"--output={directory_}/plan.json", "--label=//:core"]
    definition: dict[str, object] = {
        "package": "core",
        "kind": kind,
        "tree": "_core",
        "rpath": ["_core/lib"],
        "exclude": ["x/**"],
    }
    definition["allow_unmatched"] = ["x/**"]
    definition |= declared
    (directory_ / "definition.json").write_text(json.dumps(definition))
    for name, found in artifacts.items():
        entries, facts = [], {}
        for one in found:
            entry = {"base": "stage", "path": one.path, "kind": str(one.kind)}
            entry |= {"target": one.link} if one.link else {"mode": one.mode}
            entries.append(entry)
            if one.facts:
                facts[f"{name}/stage/{one.path}"] = {
                    "size": one.facts.size,
                    "type": one.facts.type,
                    "soname": one.facts.soname,
                    "needed": ["libother.so.1"],
                    "dynamic": one.facts.dynamic,
                    "machine": one.facts.machine,
                }
        manifest, unit = directory_ / f"{name}.manifest", f"{name}/small"
        manifest.write_text(json.dumps({"artifact": name, "entries": entries}))
        (directory_ / f"{name}.facts").write_text(json.dumps({"unit": unit, "files": facts}))
        arguments += [f"--manifest={manifest}", f"--facts={directory_}/{name}.facts", f"--launchers={name}={unit}"]
        arguments.append(f"--edit={unit}={directory_}/{name}.edit")
    return arguments


ONE = [library("lib/liba.so.1", "liba.so.1"), file("share/both"), link("bin/tool", "../libexec/tool")]
TWO = [program("libexec/tool"), file("share/both"), file("share/ï = :", mode="0444"), link("lib/liba.so", "liba.so.1")]


def test_main_writes_the_plan_and_an_edit_file_per_unit(tmp_path: Path) -> None:
    assert main(documents(tmp_path, {"one_lib_generic": ONE, "two_run_generic": TWO})) == 0
    one = json.loads((tmp_path / "one_lib_generic.edit").read_text(encoding="utf-8"))
    two = json.loads((tmp_path / "two_run_generic.edit").read_text(encoding="utf-8"))
    assert one == {
        "entries": [
            {"path": "bin/tool", "mode": "0755", "made": "launcher", "target": "../libexec/tool", "machine": 62},
            {
                "path": "lib/liba.so.1",
                "mode": "0755",
                "source": "one_lib_generic/stage/lib/liba.so.1",
                "rpath": ["$ORIGIN"],
            },
            {"path": "share/both", "mode": "0644", "source": "one_lib_generic/stage/share/both"},
        ],
        "digest": ["one_lib_generic/stage/share/both"],
    }
    assert [entry["path"] for entry in two["entries"]] == ["lib/liba.so", "libexec/tool", "share/ï = :"]
    assert two["entries"][0] == {
        "path": "lib/liba.so",
        "mode": "0755",
        "made": "forwarder",
        "target": "liba.so.1",
        "machine": 62,
    }
    assert two["entries"][1]["rpath"] == ["$ORIGIN/../lib"]
    assert two["digest"] == ["two_run_generic/stage/share/both"]
    made = Plan.from_document(json.loads((tmp_path / "plan.json").read_text(encoding="utf-8")))
    assert (made.package, made.tree, made.per_target) == ("core", "_core", False)
    assert made.equal_sources == (("one_lib_generic/stage/share/both", "two_run_generic/stage/share/both"),)
    assert {entry.path: str(entry.treatment) for entry in made.entries} == {
        "bin/tool": "launcher",
        "lib/liba.so": "forwarder",
        "lib/liba.so.1": "patch",
        "libexec/tool": "patch",
        "share/both": "keep",
        "share/ï = :": "keep",
    }


def test_content_decides_modes_that_the_manifest_leaves_open(tmp_path: Path) -> None:
    """Bazel does not keep the executable bit of what it builds."""
    names = {"lib/liba.so.1": "elf-library", "bin/tool": "elf-program", "bin/script": "script", "share/data": "data"}
    entries = [{"base": "stage", "path": path, "kind": "file", "file": path} for path in names]
    entries.append({"base": "stage", "path": "bin/set", "kind": "file", "file": "bin/set", "mode": "0444"})
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"artifact": "one_lib_generic", "entries": entries}))
    facts = {
        f"one_lib_generic/stage/{path}": Facts("one_lib_generic/small", 1, type_)
        for path, type_ in (names | {"bin/set": "script"}).items()
    }
    found = read_artifact(str(manifest), facts).found
    assert {one.path: one.mode for one in found} == {
        "lib/liba.so.1": "0644",
        "bin/tool": "0755",
        "bin/script": "0755",
        "share/data": "0644",
        "bin/set": "0444",
    }


def test_a_change_elsewhere_leaves_a_units_edit_file_as_it_was(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for directory_, two in ((before, TWO), (after, [*TWO, file("share/new"), link("share/newer", "both")])):
        directory_.mkdir()
        assert main(documents(directory_, {"one_lib_generic": ONE, "two_run_generic": two})) == 0
    assert (before / "one_lib_generic.edit").read_bytes() != (after / "one_lib_generic.edit").read_bytes()
    for directory_, two in ((before, TWO), (after, [*TWO, file("share/new", size=9), link("share/newer", "new")])):
        assert main(documents(directory_, {"one_lib_generic": ONE, "two_run_generic": two})) == 0
    assert (before / "one_lib_generic.edit").read_bytes() == (after / "one_lib_generic.edit").read_bytes()
    assert (before / "two_run_generic.edit").read_bytes() != (after / "two_run_generic.edit").read_bytes()


def test_a_unit_without_entries_gets_an_edit_file(tmp_path: Path) -> None:
    assert (
        main(documents(tmp_path, {"one_lib_generic": ONE, "two_run_generic": [*TWO, file("x/y")], "z_dev_x": []})) == 0
    )
    assert json.loads((tmp_path / "z_dev_x.edit").read_text()) == {"entries": [], "digest": []}


def test_plans_of_other_packages_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = plan(Definition("base", "runtime", "_base"), file("share/both"))
    (tmp_path / "base.json").write_text(json.dumps(base.to_document()))
    arguments = documents(tmp_path, {"one_lib_generic": ONE, "two_run_generic": TWO})
    assert main([*arguments, f"--builds-on={tmp_path}/base.json"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("ERROR: //:core: share/both: from one_lib_generic/stage/share/both, but package base has")
    assert not (tmp_path / "plan.json").exists()


def test_a_broken_document_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = documents(tmp_path, {"one_lib_generic": ONE})
    (tmp_path / "one_lib_generic.facts").write_text("{")
    assert main(arguments) == 1
    assert f"{tmp_path}/one_lib_generic.facts: expected a JSON document" in capsys.readouterr().err


def test_what_a_package_below_compares_is_not_compared_again() -> None:
    artifacts = [artifact("one_lib_generic", file("share/both")), artifact("two_run_generic", file("share/both"))]
    core = make_plan(CORE, artifacts, [])
    assert core.equal_sources
    devel = make_plan(Definition("devel", "devel", "_devel"), artifacts, [core])
    assert [entry.treatment for entry in devel.entries] == [Treatment.LINK_TO]
    assert devel.equal_sources == ()


def test_a_big_file_that_nothing_packs_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = documents(tmp_path, {"one_lib_generic": ONE, "two_run_generic": TWO})
    arguments = [argument for argument in arguments if not argument.startswith("--edit=two_run_generic/")]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith(
        "ERROR: //:core: lib/liba.so: package core must contain this big file of artifact two_run_ge"
    )
    assert "Name the artifact in `repacked`" in error
    assert not (tmp_path / "plan.json").exists()


def test_links_that_dangle_are_noted_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(documents(tmp_path, {"one_lib_generic": ONE, "two_run_generic": TWO})) == 0
    assert capsys.readouterr().err == ""
    dangling = [link(f"lib/{number}", f"../{number}/x") for number in range(5)]
    assert main(documents(tmp_path, {"one_lib_generic": [*ONE, *dangling], "two_run_generic": TWO})) == 0
    assert capsys.readouterr().err == (
        "NOTE: //:core: package core leaves out 5 links that lead nowhere: lib/0 -> ../0/x, lib/1 -> ../1/x, "
        "lib/2 -> ../2/x and 2 more. Exclude them, or add what they lead to; "
        f"{tmp_path}/plan.json has all, as `link that dangles`\n"
    )


def test_links_that_dangle_are_not_noted_again_by_what_builds_on_the_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    below = [*ONE, *TWO, link("lib/x", "y")]
    assert main(documents(tmp_path, {"one_lib_generic": below})) == 0
    assert "leaves out 1 links" in capsys.readouterr().err
    (tmp_path / "plan.json").rename(tmp_path / "below.json")
    more = [*below, link("lib/z", "y")]
    assert main([*documents(tmp_path, {"one_lib_generic": more}, "devel"), f"--builds-on={tmp_path}/below.json"]) == 0
    assert "leaves out 1 links that lead nowhere: lib/z -> y." in capsys.readouterr().err


PATTERNS = (["lib/*.so", "lib"], ["bin/tool", "**/*.h", "y/**"])


@pytest.mark.parametrize("kind", ["runtime", "devel", "plain"])
def test_patterns_that_match_nothing_are_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory that is not empty is not left out by its name alone."""
    found = [*ONE, file("lib/liba.so"), directory("lib"), directory("y")]
    declared = {"include": ["share/**", *PATTERNS[0]], "exclude": [*PATTERNS[1], "share/both"]}
    assert main(documents(tmp_path, {"one_lib_generic": found}, kind, allow_unmatched=["y/**"], **declared)) == 1
    assert capsys.readouterr().err == (
        "ERROR: //:core: package core: no path of its artifacts matches 'lib' of `include`, '**/*.h' of `exclude`; "
        "expected a file, a link or an empty directory. Correct the pattern or remove it. If it may match nothing, "
        "name it in `allow_unmatched`, too\n"
    )
    assert not (tmp_path / "plan.json").exists()
    allowed = ["y/**", "lib", "**/*.h"]
    assert main(documents(tmp_path, {"one_lib_generic": found}, kind, allow_unmatched=allowed, **declared)) == 0


def test_an_empty_directory_can_be_left_out(tmp_path: Path) -> None:
    found = [*ONE, directory("empty")]
    assert main(documents(tmp_path, {"one_lib_generic": found}, exclude=["empty"], allow_unmatched=[])) == 0


HOLDS_NOTHING = {
    "nothing but what is left out": [file("x/y")],
    "a link that dangles": [link("lib/x", "y")],
    "a directory": [directory("lib")],
    "nothing at all": [],
}


@pytest.mark.parametrize("found", HOLDS_NOTHING.values(), ids=HOLDS_NOTHING)
@pytest.mark.parametrize("kind", ["runtime", "devel", "plain"])
def test_a_package_that_holds_nothing_is_refused(
    kind: str, found: list[Found], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(documents(tmp_path, {"one_lib_generic": found}, kind)) == 1
    assert capsys.readouterr().err == (
        "ERROR: //:core: package core holds no file of its artifacts: they are empty, or its patterns leave all of "
        "them out; expected a file of the SDK. Correct `artifacts`, `include` and `exclude`, or leave the package "
        "out. If it may be empty, set `allow_empty`\n"
    )
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.parametrize("kind", ["runtime", "devel"])
def test_a_package_of_no_artifact_is_refused(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(documents(tmp_path, {}, kind)) == 1
    assert "package core is made from no artifact; expected a file of the SDK" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["runtime", "devel"])
def test_a_package_that_may_be_empty_is_noted(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory of artifacts may be a part of an SDK, of which some packages have nothing."""
    assert main(documents(tmp_path, {}, kind, allow_empty=True)) == 0
    assert capsys.readouterr().err == (
        "NOTE: //:core: package core is made from no artifact, so its wheel holds no file of the SDK\n"
    )
    assert json.loads((tmp_path / "plan.json").read_text())["entries"] == []
