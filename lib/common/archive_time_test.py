"""Tests of the time that archive members bear."""

import time

import pytest

from lib.common.program import FIRST_TIME, LAST_TIME, ToolError, archive_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", FIRST_TIME),
        ("0", FIRST_TIME),
        ("1700000000", 1700000000),
        ("9" * 12, LAST_TIME),
        ("9" * 5000, LAST_TIME),
        ("0" * 5000, FIRST_TIME),
        (str(FIRST_TIME), FIRST_TIME),
        (str(LAST_TIME), LAST_TIME),
    ],
)
def test_source_date_epoch(text: str, expected: int) -> None:
    assert archive_time({"SOURCE_DATE_EPOCH": text}) == expected


def test_without_it_1980() -> None:
    assert archive_time({}) == FIRST_TIME
    assert time.gmtime(FIRST_TIME)[:6] == (1980, 1, 1, 0, 0, 0)


@pytest.mark.parametrize("text", ["yesterday", "-1", "1.5", "١", " 1"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match=r"SOURCE_DATE_EPOCH is .*; expected seconds since 1970"):
        archive_time({"SOURCE_DATE_EPOCH": text})
