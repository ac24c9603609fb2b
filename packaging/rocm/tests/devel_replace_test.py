"""Replacing files as a whole: the old one or the new one, nothing else beside them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rocm_sdk.devel.replace import replace_file


def test_the_file_is_new_and_the_journal_empty(tmp_path: Path) -> None:
    file, journal = tmp_path / "RECORD", tmp_path / "journal"
    replace_file(file, "ï,,\n", journal)
    assert file.read_bytes() == "ï,,\n".encode()
    assert journal.read_bytes() == b""
    assert sorted(tmp_path.iterdir()) == [file, journal]


def test_permissions_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "RECORD"
    file.touch()
    file.chmod(0o640)
    replace_file(file, "new", tmp_path / "journal")
    assert file.stat().st_mode & 0o777 == 0o640


def test_files_of_an_installers_cache_stay_as_they_are(tmp_path: Path) -> None:
    cache = {name: tmp_path / f"cache-{name}" for name in ("RECORD", "journal")}
    for name, path in cache.items():
        path.write_text("old")
        os.link(path, tmp_path / name)
    replace_file(tmp_path / "RECORD", "new", tmp_path / "journal")
    assert [path.read_text() for path in cache.values()] == ["old", "old"]
    assert (tmp_path / "RECORD").read_text() == "new"


@pytest.mark.parametrize("function", ["open", "write", "fsync", "fchmod"])
def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    file, journal = tmp_path / "RECORD", tmp_path / "journal"
    file.write_text("old")
    journal.touch()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, function, full)
        with pytest.raises(OSError, match="No space left"):
            replace_file(file, "new", journal, durable=True)
    assert file.read_text() == "old"
    replace_file(file, "new", journal)
    assert file.read_text() == "new"
    assert journal.read_bytes() == b""
    assert sorted(tmp_path.iterdir()) == [file, journal]


def test_a_write_that_takes_part_of_the_text_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
        replace_file(tmp_path / "RECORD", "0123456789", tmp_path / "journal")
    assert (tmp_path / "RECORD").read_text() == "0123456789"
