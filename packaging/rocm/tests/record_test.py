"""Editing RECORD: rows of other packages stay as they are, and any name survives."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from rocm_sdk.record import Row, format_record, is_below, parse_record, read_record, replace_below

# Any name that a file can have in UTF-8: no NUL, no half of a surrogate pair.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
# Names around a tree called `tree`: in it, beside it, and with the same beginning.
PLACED = st.builds(
    "{}{}".format, st.sampled_from(["tree", "tree/", "tree/a/", "treeX", "treeX/", "x/tree/", ""]), NAMES
)
DIGESTS = st.sampled_from([("", ""), ("sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", "12")])


def rows_of(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[Row]]:
    row = st.builds(lambda name, digest: Row(name, *digest), names, DIGESTS)
    return st.lists(row, unique_by=lambda row: row.path)


@given(rows_of(NAMES))
@example([Row('a, "b"\r\n'), Row("\r"), Row(" "), Row("#"), Row("é\u2028ï")])
def test_rows_survive_with_any_name(rows: list[Row]) -> None:
    text = format_record(rows)
    assert parse_record(io.StringIO(text, newline="")) == rows
    assert [row[0] for row in csv.reader(io.StringIO(text, newline=""))] == [row.path for row in rows]


@given(rows_of(NAMES))
def test_what_is_written_is_read_from_a_file(rows: list[Row]) -> None:
    text = format_record(rows)
    assert format_record(parse_record(io.StringIO(text, newline=""))) == text
    assert text.encode().decode() == text


def test_reads_what_installers_write(tmp_path: Path) -> None:
    file = tmp_path / "RECORD"
    file.write_bytes(b'a.py,sha256=x,1\r\n"b,c",,\r\n\r\nd\r\n')
    assert read_record(file) == [Row("a.py", "sha256=x", "1"), Row("b,c"), Row("d")]


@given(rows_of(PLACED), st.sets(NAMES.map("tree/{}".format)))
def test_replacing_touches_only_the_tree(rows: list[Row], paths: set[str]) -> None:
    once = replace_below(rows, "tree", paths)
    others = [row for row in rows if row.path.rstrip("/") != "tree" and not row.path.startswith("tree/")]
    assert once == others + [Row(path) for path in sorted(paths)]


@given(rows_of(PLACED), st.sets(NAMES.map("tree/{}".format)), st.sets(NAMES.map("tree/{}".format)))
def test_only_the_last_replacement_counts(rows: list[Row], first: set[str], last: set[str]) -> None:
    assert replace_below(replace_below(rows, "tree", first), "tree", last) == replace_below(rows, "tree", last)


@given(rows_of(PLACED))
def test_adding_and_removing_a_tree_restores_the_others(rows: list[Row]) -> None:
    without = [row for row in rows if not is_below(row.path, "tree")]
    assert replace_below(replace_below(without, "tree", ["tree", "tree/a"]), "tree", []) == without


@given(NAMES)
def test_below_is_the_tree_or_what_begins_with_it_and_a_slash(name: str) -> None:
    assert is_below(f"tree/{name}", "tree")
    assert is_below("tree", "tree")
    assert is_below("tree/", "tree")
    assert not is_below(f"treeX{name}", "tree")
    assert not is_below(f"x/tree/{name}", "tree")
