"""METADATA is edited, and nothing else in it changes."""

import pytest
from packaging.metadata import Metadata

from develop.testing.fat_wheel import METADATA
from lib.common.program import ToolError
from lib.wheel.metadata_editor import parse_core_metadata

FOLDED = """\
Metadata-Version: 1.2
Name: acme
Version: 1.0
Description: It solves
        and returns.
Keywords: a
"""


def test_what_is_not_edited_stays() -> None:
    assert parse_core_metadata(METADATA.encode(), "x").encode() == METADATA.encode()
    content = METADATA.encode() + b"\nname: \xff\xfe of another encoding\n"
    assert parse_core_metadata(content, "x").encode() == content


def test_fields_are_replaced_and_added() -> None:
    edited = parse_core_metadata(METADATA.encode(), "x").replaced("Version", "1.0+gfx942")
    edited = edited.added([("Requires-Dist", "b==1")]).described("From there.")
    found = Metadata.from_email(edited.encode(), validate=True)
    assert (str(found.version), str((found.requires_dist or [])[-1])) == ("1.0+gfx942", "b==1")
    assert found.description == "# Acme\n\nIt solves.\n\nFrom there.\n"


def test_old_metadata_have_the_description_in_a_field() -> None:
    edited = parse_core_metadata(FOLDED.encode(), "x").described("From there.")
    assert edited.encode().decode() == FOLDED.replace("returns.\n", "returns.\n        \n        From there.\n") + "\n"
    assert "From there." in (Metadata.from_email(edited.encode(), validate=True).description or "")


@pytest.mark.parametrize(("old", "new"), [("1.2", "2.1"), ("2.0", "2.1"), ("2.1", "2.1"), ("2.4", "2.4")])
def test_extras_need_metadata_2_1(old: str, new: str) -> None:
    metadata = parse_core_metadata(f"Metadata-Version: {old}\nName: a\nVersion: 1\n".encode(), "x")
    assert metadata.with_extras().values("Metadata-Version") == [new]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x: line 1 is ''; expected `Field: value`"),
        (" a\n", "x: line 1 is ' a'"),
        ("Metadata-Version: 2.1\nName: a\n", "x: has 0 fields Version; expected one"),
        ("Metadata-Version: 2.1\nName: a\nName: b\nVersion: 1\n", "x: has 2 fields Name"),
        ("Metadata-Version: 2.1\nWhat is this\n", "x: line 2"),
    ],
)
def test_what_is_no_metadata_is_refused(text: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        parse_core_metadata(text.encode(), "x")
