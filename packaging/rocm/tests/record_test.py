"""Editing RECORD: nothing of others is changed, any name survives, and the file is replaced as a whole."""

from __future__ import annotations

import csv
import os
import random
from pathlib import Path

import pytest
from rocm_sdk.record import Row, read_record, replace_below, write_record


def test_rows_survive_with_any_name(tmp_path: Path) -> None:
    generator = random.Random(1)
    file = tmp_path / "RECORD"
    for _ in range(200):
        names = ["".join(generator.choices("ab,\"' \n\\é+:/", k=generator.randrange(1, 9))) for _ in range(20)]
        rows = [Row(name, *generator.choice([("", ""), ("sha256=x", "12")])) for name in names]
        file.touch()
        write_record(file, rows)
        assert read_record(file) == rows
        with open(file, encoding="utf-8", newline="") as lines:
            assert [row[0] for row in csv.reader(lines)] == names


def test_reads_what_installers_write(tmp_path: Path) -> None:
    file = tmp_path / "RECORD"
    file.write_bytes(b'a.py,sha256=x,1\r\n"b,c",,\r\n\r\nd\r\n')
    assert read_record(file) == [Row("a.py", "sha256=x", "1"), Row("b,c"), Row("d")]


def test_replace_below_touches_only_the_tree() -> None:
    generator = random.Random(3)
    for _ in range(200):
        names = generator.sample(["tree", "tree/", "tree/a", "tree/b/c", "treeX", "treeX/a", "x/tree/a", "../bin/x"], 5)
        rows = [Row(name, "sha256=x", "1") for name in names]
        paths = {f"tree/{number}" for number in generator.sample(range(20), 5)}
        once = replace_below(rows, "tree", paths)
        others = [row for row in rows if row.path in ("treeX", "treeX/a", "x/tree/a", "../bin/x")]
        assert once == others + [Row(path) for path in sorted(paths)]
        assert replace_below(once, "tree", paths) == once
        assert replace_below(once, "tree", []) == others


def test_write_keeps_the_mode_and_leaves_no_other_file(tmp_path: Path) -> None:
    file = tmp_path / "RECORD"
    file.touch()
    file.chmod(0o640)
    write_record(file, [Row("a")])
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_write_replaces_and_never_edits_in_place(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("old,,\n")
    file = tmp_path / "RECORD"
    os.link(tmp_path / "cache", file)
    write_record(file, [Row("new")])
    assert (tmp_path / "cache").read_text() == "old,,\n"
    assert file.read_text() == "new,,\n"


def test_a_failed_write_leaves_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "RECORD"
    file.write_text("old,,\n")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_record(file, [Row("new")])
    assert file.read_text() == "old,,\n"
    assert list(tmp_path.iterdir()) == [file]
