"""Tests of the wheel's layout and of RECORD."""

import base64
import csv
import hashlib
import io
import zipfile

import pytest

from lib.common.program import ToolError
from lib.wheel.deflated_run import join, small_run
from lib.wheel.wheel_writer import joined_member, text_member, write_wheel

INFO = "a-1.dist-info"
CONTENTS = {
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\n",
    "zz/last.py": b"",
    'a,b/"quoted" ï.txt': b"x" * 1000,
    f"{INFO}/METADATA": b"Name: a\n",
    "a-1.data/scripts/x": b"#!python\n",
}


def written() -> bytes:
    file = io.BytesIO()
    archive = write_wheel(file, [text_member(name, content) for name, content in CONTENTS.items()], INFO)
    assert (archive.size, archive.sha256) == (len(file.getvalue()), hashlib.sha256(file.getvalue()).hexdigest())
    return file.getvalue()


def test_members_are_sorted_with_the_metadata_at_the_end() -> None:
    with zipfile.ZipFile(io.BytesIO(written())) as wheel:
        assert wheel.namelist() == [
            'a,b/"quoted" ï.txt',
            "a-1.data/scripts/x",
            "zz/last.py",
            f"{INFO}/METADATA",
            f"{INFO}/WHEEL",
            f"{INFO}/RECORD",
        ]


def test_record_lists_every_file_with_digest_and_size() -> None:
    with zipfile.ZipFile(io.BytesIO(written())) as wheel:
        rows = list(csv.reader(io.StringIO(wheel.read(f"{INFO}/RECORD").decode())))
    assert rows[-1] == [f"{INFO}/RECORD", "", ""]
    assert {row[0] for row in rows[:-1]} == CONTENTS.keys()
    for name, digest, size in rows[:-1]:
        expected = base64.urlsafe_b64encode(hashlib.sha256(CONTENTS[name]).digest()).decode().rstrip("=")
        assert (digest, size) == (f"sha256={expected}", str(len(CONTENTS[name])))


def test_the_same_bytes_in_any_order() -> None:
    first = written()
    items = list(CONTENTS.items())
    file = io.BytesIO()
    write_wheel(file, [text_member(name, content) for name, content in reversed(items)], INFO)
    assert file.getvalue() == first


def test_a_joined_member_is_digested() -> None:
    member = joined_member("a", join([small_run(b"one"), small_run(b"two")]))
    assert (member.sha256, member.mode) == (hashlib.sha256(b"onetwo").hexdigest(), 0o644)


def test_source_date_epoch_dates_the_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    with zipfile.ZipFile(io.BytesIO(written())) as wheel:
        assert {info.date_time for info in wheel.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_two_files_of_one_name_are_refused() -> None:
    members = [text_member(name, b"") for name in ("b", "c", "a", "c", "b")]
    with pytest.raises(ToolError) as error:
        write_wheel(io.BytesIO(), members, INFO)
    assert str(error.value) == "b: twice in one wheel; expected one file. Give one of them another path"


def test_a_record_of_someone_elses_is_refused() -> None:
    with pytest.raises(ToolError, match=f"^{INFO}/RECORD: twice in one wheel"):
        write_wheel(io.BytesIO(), [text_member(f"{INFO}/RECORD", b"")], INFO)


def test_a_file_is_no_directory() -> None:
    with pytest.raises(ToolError) as error:
        write_wheel(io.BytesIO(), [text_member(name, b"") for name in ("a/b/c", "a.b", "a/b")], INFO)
    assert str(error.value) == "a/b: is a file, and a directory with a/b/c, in one wheel. Give one of them another path"


@pytest.mark.parametrize("name", ["/abs/a", "../a", "a/../../b", "a//b", "./a", "a/"])
def test_members_lie_in_site_packages(name: str) -> None:
    with pytest.raises(ToolError) as error:
        write_wheel(io.BytesIO(), [text_member(name, b"")], INFO)
    assert str(error.value) == (
        f"{name}: not a valid path in a wheel; expected a relative path without `..`, `.` and empty parts. Correct "
        "`files` or `import_name`, whichever it comes from"
    )
