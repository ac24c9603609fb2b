"""Tests of the time that archive members bear."""

import io
import time
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.common.archive_time import FIRST, LAST, archive_time, dos_time
from lib.common.program import ToolError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", FIRST),
        ("0", FIRST),
        ("1700000000", 1700000000),
        ("9" * 12, LAST),
        ("9" * 5000, LAST),
        ("0" * 5000, FIRST),
        (str(FIRST), FIRST),
        (str(LAST), LAST),
    ],
)
def test_source_date_epoch(text: str, expected: int) -> None:
    assert archive_time({"SOURCE_DATE_EPOCH": text}) == expected


def test_without_it_1980() -> None:
    assert archive_time({}) == FIRST
    assert time.gmtime(FIRST)[:6] == (1980, 1, 1, 0, 0, 0)


@pytest.mark.parametrize("text", ["yesterday", "-1", "1.5", "١", " 1"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match=r"SOURCE_DATE_EPOCH is .*; expected seconds since 1970"):
        archive_time({"SOURCE_DATE_EPOCH": text})


@given(st.integers(FIRST, LAST))
def test_dos_time_is_what_zipfile_reads(seconds: int) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a", time.gmtime(seconds)[:6]), b"")
    # Time and date are the 16-bit fields at 10 and 12 of a local header (APPNOTE 4.3.7).
    fields = file.getvalue()[10:14]
    moment = dos_time(seconds)
    assert (moment.time, moment.date) == (int.from_bytes(fields[:2], "little"), int.from_bytes(fields[2:], "little"))
