"""Tests of the coverage table: what is written is read, equal tables are equal bytes, and errors say what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from tools.actions.coverage.table import Coverage, collect, parse_coverage, read_coverage, write_coverage
from tools.lib.common.program import ToolError

TABLE = Coverage({"lib/librocblas.so.5": ("gfx90a:xnack+", "gfx1030"), "lib/foo/": ("gfx1100",)})
WRITTEN = """{
 "format": 1,
 "libraries": {
  "lib/foo/": [
   "gfx1100"
  ],
  "lib/librocblas.so.5": [
   "gfx1030",
   "gfx90a:xnack+"
  ]
 }
}
"""


def test_the_table_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "coverage.json"
    write_coverage(str(path), TABLE)
    assert path.read_text(encoding="utf-8") == WRITTEN
    assert read_coverage(str(path)) == TABLE
    assert TABLE.targets == ("gfx1030", "gfx1100", "gfx90a:xnack+")


def test_collected_in_any_order() -> None:
    pairs = [("lib/b", "gfx90a"), ("lib/a", "gfx942"), ("lib/b", "gfx1030"), ("lib/b", "gfx90a")]
    assert (
        collect(pairs) == collect(reversed(pairs)) == Coverage({"lib/a": ("gfx942",), "lib/b": ("gfx1030", "gfx90a")})
    )
    assert list(collect(pairs).libraries) == ["lib/a", "lib/b"]
    assert collect([]).to_document() == {"format": 1, "libraries": {}}


def of_library(library: str, targets: Any) -> Any:
    """Return a document with one library."""
    return {"format": 1, "libraries": {library: targets}}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "c.json: expected a coverage table"),
        ({"libraries": {}}, "c.json: expected a coverage table"),
        ({"format": 2, "libraries": {}}, "c.json: format 2, expected 1. Use the version of these rules that wrote it"),
        ({"format": 1}, "c.json: libraries: expected an object"),
        ({"format": 1, "libraries": {}, "absent": {}}, "c.json: unknown key 'absent'"),
        (of_library("/lib/a", ["gfx942"]), "c.json: libraries: '/lib/a': expected a path below the package's tree"),
        (of_library("lib/../a", ["gfx942"]), "expected a path below"),
        (of_library("..", ["gfx942"]), "expected a path below"),
        (of_library("", ["gfx942"]), "expected a path below"),
        (of_library("lib/a", []), "'lib/a': expected the target IDs that it has code for; remove the library"),
        (of_library("lib/a", "gfx942"), "expected the target IDs"),
        (of_library("lib/a", [942]), "'lib/a': 942: expected a target ID such as gfx90a:xnack+"),
        (of_library("lib/a", ["sm_70"]), "'lib/a': target ID 'sm_70': expected a processor such as gfx1030"),
        (of_library("lib/a", ["gfx90a:xnack+:sramecc+"]), "expected its canonical form, 'gfx90a:sramecc+:xnack+'"),
        (of_library("lib/a", ["gfx942", "gfx942"]), "a target ID is there twice"),
    ],
)
def test_what_is_no_table(document: Any, message: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_coverage(document, "c.json")
    assert message in str(caught.value)


def test_what_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(ToolError, match=r"c\.json: expected a JSON document"):
        read_coverage(str(tmp_path / "c.json"))


def test_a_table_that_a_person_wrote_is_sorted_when_read() -> None:
    document = {"format": 1, "libraries": {"lib/b": ["gfx942", "gfx90a"], "lib/a": ["gfx942"]}}
    assert json.dumps(parse_coverage(document, "c.json").to_document()) == (
        '{"format": 1, "libraries": {"lib/a": ["gfx942"], "lib/b": ["gfx90a", "gfx942"]}}'
    )
