"""Tests of which files are licence texts."""

from packaging.metadata import Metadata

from develop.testing.artifacts import file, link, plan
from lib.plan.model import Definition
from lib.wheel.metadata_writer import Project, core_metadata
from tools.actions.link.tool import license_paths

PATTERNS = ("share/doc/**/LICENSE*", "share/doc/**/copyright")
CORE = Definition("core", "runtime", "_core", exclude=("share/doc/dropped/**",))


def test_packed_files_that_match_sorted() -> None:
    made = plan(
        CORE,
        file("share/doc/z/copyright"),
        file("share/doc/hip/LICENSE.md"),
        link("share/doc/hip/LICENSE", "LICENSE.md"),
        file("share/doc/LICENSE"),
        file("share/doc/hip/README"),
        file("share/doc/hip/copyright.old"),
        file("share/doc/dropped/LICENSE"),
        file("LICENSE"),
    )
    assert license_paths(made, PATTERNS) == [
        "share/doc/LICENSE",
        "share/doc/hip/LICENSE",
        "share/doc/hip/LICENSE.md",
        "share/doc/z/copyright",
    ]
    assert license_paths(made, ()) == []


def test_devel_names_only_what_it_holds_itself() -> None:
    """What a runtime package has is a link here: its licence texts are beside that package's metadata."""
    core = plan(CORE, file("share/doc/hip/LICENSE"))
    devel = plan(
        Definition("core", "devel", "_devel"),
        *(file("share/doc/hip/LICENSE"), file("share/doc/prim/LICENSE")),
        builds_on=(core,),
    )
    assert license_paths(devel, PATTERNS) == ["share/doc/prim/LICENSE"]


def test_names_that_the_metadata_cannot_hold_are_left_in_the_tree() -> None:
    names = ["LICENSE+ï v2", "LICENSE*", "LICENSE..txt", "LICENSE\\x"]
    made = plan(CORE, *(file(f"share/doc/hip/{name}") for name in names))
    found = license_paths(made, PATTERNS)
    assert found == ["share/doc/hip/LICENSE+ï v2"]
    project = Project("a", "1.0", "S", ">=3.9", "MIT", license_files=tuple(found))
    assert Metadata.from_email(core_metadata(project, ""), validate=True).license_files == found
