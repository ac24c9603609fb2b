"""Reading RECORD: any name survives."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from rocm_sdk.installation import Row, is_below, parse_record, read_record

# Any name that a file can have in UTF-8: no NUL, no half of a surrogate pair.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
DIGESTS = st.sampled_from([("", ""), ("sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", "12")])


def rows_of(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[Row]]:
    row = st.builds(lambda name, digest: Row(name, *digest), names, DIGESTS)
    return st.lists(row, unique_by=lambda row: row.path)


@given(rows_of(NAMES))
@example([Row('a, "b"\r\n'), Row("\r"), Row(" "), Row("#"), Row("é\u2028ï")])
def test_rows_survive_with_any_name(rows: list[Row]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows((row.path, row.digest, row.size) for row in rows)
    assert parse_record(io.StringIO(text.getvalue(), newline="")) == rows


def test_reads_what_installers_write(tmp_path: Path) -> None:
    file = tmp_path / "RECORD"
    file.write_bytes(b'a.py,sha256=x,1\r\n"b,c",,\r\n\r\nd\r\n')
    assert read_record(file) == [Row("a.py", "sha256=x", "1"), Row("b,c"), Row("d")]


@given(NAMES)
def test_below_is_the_tree_or_what_begins_with_it_and_a_slash(name: str) -> None:
    assert is_below(f"tree/{name}", "tree")
    assert is_below("tree", "tree")
    assert is_below("tree/", "tree")
    assert not is_below(f"treeX{name}", "tree")
    assert not is_below(f"x/tree/{name}", "tree")
