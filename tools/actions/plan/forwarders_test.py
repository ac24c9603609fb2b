"""Tests of the unversioned names that runtime packages ship: docs/reference/packages.md, "Forwarders"."""

from dataclasses import replace

import pytest

from develop.testing.artifacts import artifact, directory, file, library, link, plan
from lib.common.program import ToolError
from lib.elf import constants as c
from lib.plan.model import Artifact, Definition, Entry, Found, Kind, Plan, Treatment
from tools.actions.plan.tool import edits_by_unit, make_plan

CORE = Definition("core", "runtime", "_core")
LIBRARIES = Definition("libraries", "runtime", "_libraries")


def entries(*found: Found, definition: Definition = CORE, builds_on: tuple[Plan, ...] = ()) -> dict[str, Entry]:
    return {entry.path: entry for entry in plan(definition, *found, builds_on=builds_on).entries}


def forwarded(*found: Found, definition: Definition = CORE, builds_on: tuple[Plan, ...] = ()) -> dict[str, str | None]:
    planned = entries(*found, definition=definition, builds_on=builds_on).values()
    return {entry.path: entry.target for entry in planned if entry.treatment is Treatment.FORWARDER}


def versioned(name: str, *versions: str) -> list[Found]:
    return [library(f"{name}.{version}", f"{name.rpartition('/')[2]}.{version}") for version in versions]


def test_a_versioned_library_gets_its_unversioned_name() -> None:
    planned = entries(*versioned("lib/liba.so", "1"))
    assert planned["lib/liba.so"] == Entry(
        path="lib/liba.so",
        kind=Kind.NOTHING,
        treatment=Treatment.FORWARDER,
        reason="unversioned name of liba.so.1, which programs open at run time",
        source="core_lib_generic/stage/lib/liba.so.1",
        mode="0755",
        target="liba.so.1",
        type="elf-library",
        soname="liba.so",
        machine=c.EM_X86_64,
    )
    assert planned["lib/liba.so"].is_packed_file


def test_a_name_of_the_artifact_keeps_its_source_and_link() -> None:
    planned = entries(*versioned("lib/liba.so", "1"), link("lib/liba.so", "liba.so.1"))
    entry = planned["lib/liba.so"]
    assert (entry.treatment, entry.kind, entry.link) == (Treatment.FORWARDER, Kind.LINK, "liba.so.1")
    assert entry.source == "core_lib_generic/stage/lib/liba.so"


def test_a_library_under_its_unversioned_name_becomes_one() -> None:
    assert forwarded(library("lib/liba.so", "liba.so.1"), link("lib/liba.so.1", "liba.so")) == {
        "lib/liba.so": "liba.so.1"
    }


@pytest.mark.parametrize(
    "found",
    [
        library("lib/libplain.so", "libplain.so"),
        library("lib/python/module.so"),
        library("lib/libreal.so.2", "libother.so.1"),
        library("lib/libstatic.so.1"),
        file("lib/libtext.so.1"),
        file("lib/code.so.1", "gpu-code-object"),
    ],
    ids=["unversioned SONAME", "module", "other name", "no SONAME", "text", "device code"],
)
def test_what_has_no_version_in_its_soname_gets_none(found: Found) -> None:
    assert forwarded(found) == {}


def test_a_library_of_a_cpu_or_format_that_is_not_edited_gets_none() -> None:
    (found,) = versioned("lib/liba.so", "1")
    assert found.facts
    assert forwarded(replace(found, facts=replace(found.facts, dynamic=False, refusal="32-bit"))) == {}


def test_the_machine_is_that_of_the_library() -> None:
    (found,) = versioned("lib/liba.so", "1")
    assert found.facts
    planned = entries(replace(found, facts=replace(found.facts, machine=c.EM_AARCH64)))
    assert planned["lib/liba.so"].machine == c.EM_AARCH64


def test_versions_in_the_name_itself_stay() -> None:
    assert forwarded(*versioned("lib/libLLVM-17.so", "1"), *versioned("lib/libLLVM.so", "22.0git")) == {
        "lib/libLLVM-17.so": "libLLVM-17.so.1",
        "lib/libLLVM.so": "libLLVM.so.22.0git",
    }


def test_the_newest_of_several_versions_wins() -> None:
    planned = entries(*versioned("lib/libx.so", "9", "10.1", "10", "2"))
    assert planned["lib/libx.so"].target == "libx.so.10.1"
    assert planned["lib/libx.so"].reason == (
        "unversioned name of libx.so.10.1, which programs open at run time; "
        "the newest of libx.so.10.1, libx.so.10, libx.so.9, libx.so.2"
    )


def test_where_the_artifact_leads_counts_more_than_the_version() -> None:
    found = [*versioned("lib/libx.so", "1", "2"), link("lib/libx.so", "libx.so.1")]
    assert forwarded(*found) == {"lib/libx.so": "libx.so.1"}
    assert entries(*found)["lib/libx.so"].reason == "unversioned name of libx.so.1, which programs open at run time"


def test_the_name_of_a_version_that_is_left_out_leads_to_no_other() -> None:
    definition = replace(CORE, exclude=("lib/liba.so.1",))
    libraries = versioned("lib/liba.so", "1", "2")
    assert forwarded(*libraries, link("lib/liba.so", "liba.so.1"), definition=definition) == {}
    assert forwarded(*libraries, definition=definition) == {"lib/liba.so": "liba.so.2"}


def test_another_unversioned_name_is_forwarded_too() -> None:
    found = [*versioned("lib/libx-2.so", "1"), link("lib/libx.so", "libx-2.so.1"), link("lib/libx.so.0", "libx-2.so.1")]
    assert forwarded(*found) == {"lib/libx-2.so": "libx-2.so.1", "lib/libx.so": "libx-2.so.1"}


def test_a_name_that_leads_to_another_directory_stays_an_alias() -> None:
    found = [
        *versioned("lib/libx.so", "1"),
        *versioned("lib64/libx.so", "1"),
        link("lib/libx.so", "../lib64/libx.so.1"),
    ]
    assert entries(*found)["lib/libx.so"].treatment is Treatment.ALIAS_OF
    assert forwarded(*found) == {"lib64/libx.so": "libx.so.1"}


def test_an_empty_directory_of_that_name_is_no_forwarder() -> None:
    planned = entries(*versioned("lib/liba.so", "1"), directory("lib/liba.so"))
    assert planned["lib/liba.so"].treatment is Treatment.DROP


def test_a_file_or_directory_of_that_name_stays() -> None:
    assert forwarded(*versioned("lib/liba.so", "1"), file("lib/liba.so")) == {}
    assert forwarded(*versioned("lib/liba.so", "1"), library("lib/liba.so", "liba.so")) == {}
    assert forwarded(*versioned("lib/liba.so", "1"), file("lib/liba.so/x")) == {}


def test_patterns_hold_for_forwarders() -> None:
    assert forwarded(*versioned("lib/liba.so", "1"), definition=replace(CORE, exclude=("lib/liba.so",))) == {}
    assert forwarded(*versioned("lib/liba.so", "1"), definition=replace(CORE, include=("lib/*.so.1",))) == {}
    excluded = replace(CORE, exclude=("lib/liba.so.1",))
    assert forwarded(*versioned("lib/liba.so", "1"), definition=excluded) == {}


def test_a_name_that_a_package_below_has_is_not_made_again() -> None:
    core = plan(CORE, *versioned("lib/liba.so", "1"))
    found = [*versioned("lib/liba.so", "2"), link("lib/libb.so", "liba.so.1"), directory("lib/empty")]
    assert forwarded(*found, definition=LIBRARIES, builds_on=(core,)) == {}


def test_a_real_file_where_a_package_below_has_a_forwarder_is_an_error() -> None:
    core = plan(CORE, *versioned("lib/liba.so", "1"))
    with pytest.raises(ToolError) as error:
        plan(LIBRARIES, file("lib/liba.so"), builds_on=(core,))
    assert str(error.value) == (
        "lib/liba.so: from libraries_lib_generic/stage/lib/liba.so, but package core has this path already; expected "
        "one owner. Exclude it from core, which has a forwarder to liba.so.1 there"
    )


def test_forwarders_are_packed_with_the_small_files() -> None:
    """A big library is a unit of its own: a forwarder to it leaves its edit file as it was."""
    (found,) = versioned("lib/liba.so", "1")
    small = artifact("a_lib_generic", found, file("share/a"))
    big = [
        replace(one, facts=replace(one.facts, unit="a_lib_generic/big"))
        if one.path == found.path and one.facts
        else one
        for one in small.found
    ]
    made = make_plan(CORE, [Artifact(small.name, tuple(big))], [])
    facts = {one.source: one.facts for one in big if one.facts}
    edits = edits_by_unit(made, facts, {small.name: "a_lib_generic/small"})
    assert [entry.path for entry in edits["a_lib_generic/big"].entries] == ["lib/liba.so.1"]
    assert edits["a_lib_generic/small"].to_document()["entries"] == [
        {"path": "lib/liba.so", "mode": "0755", "made": "forwarder", "target": "liba.so.1", "machine": c.EM_X86_64},
        {"path": "share/a", "mode": "0644", "source": "a_lib_generic/stage/share/a"},
    ]


def test_a_name_by_which_another_library_needs_it() -> None:
    """A link beside the SONAME that the loader does not ask for: without it the program does not start."""
    named = (*versioned("lib/libsnd.so", "7"), link("lib/libsnd.so.7.0", "libsnd.so.7"))
    assert "lib/libsnd.so.7.0" not in forwarded(*named)
    user = needing(library("lib/libuser.so.1", "libuser.so.1"), "libsnd.so.7.0")
    planned = entries(*named, user)["lib/libsnd.so.7.0"]
    assert (planned.treatment, planned.target, planned.soname) == (Treatment.FORWARDER, "libsnd.so.7", "libsnd.so.7.0")
    assert planned.reason == "name of libsnd.so.7 by which another file needs it"


def test_a_name_that_only_a_package_below_has() -> None:
    """That is planned without knowing who will need it."""
    below = plan(CORE, *versioned("lib/libsnd.so", "7"), link("lib/libsnd.so.7.0", "libsnd.so.7"))
    user = needing(library("lib/libuser.so.1", "libuser.so.1"), "libsnd.so.7.0")
    with pytest.raises(ToolError, match=r"lib/libuser.so.1: needs libsnd.so.7.0, but .* SONAME alone, libsnd.so.7"):
        entries(user, definition=LIBRARIES, builds_on=(below,))


def needing(found: Found, *names: str) -> Found:
    assert found.facts
    return replace(found, facts=replace(found.facts, needed=names))
