"""The one time that all members of an archive bear.

SOURCE_DATE_EPOCH (reproducible-builds.org) sets it; without that it is 1980-01-01, the
first moment that zip archives know.
"""

import os
import time
from collections.abc import Mapping
from typing import NamedTuple

from lib.common.program import ToolError

VARIABLE = "SOURCE_DATE_EPOCH"
#: 1980-01-01 00:00:00 and 2107-12-31 23:59:58 UTC, in seconds since 1970: the range of a zip member (APPNOTE 4.4.6).
FIRST, LAST = 315532800, 4354819198


class DosTime(NamedTuple):
    """A moment as zip headers have it: two seconds are the smallest step."""

    date: int
    time: int


def archive_time(environment: Mapping[str, str] = os.environ) -> int:
    """Return the seconds since 1970 (UTC) that archive members are dated, never before 1980 nor after 2107.

    Raises ToolError when SOURCE_DATE_EPOCH is not a number of seconds.
    """
    text = environment.get(VARIABLE, "")
    if not text:
        return FIRST
    if not text.isascii() or not text.isdecimal():
        raise ToolError(f"{VARIABLE} is {text!r}; expected seconds since 1970, like 1700000000. Unset it, or mend it")
    return min(max(int(text.lstrip("0")[:20] or "0"), FIRST), LAST)


def dos_time(seconds: int) -> DosTime:
    """Return a moment between FIRST and LAST as MS-DOS has it, in UTC."""
    moment = time.gmtime(seconds)
    date = (moment.tm_year - 1980) << 9 | moment.tm_mon << 5 | moment.tm_mday
    return DosTime(date, moment.tm_hour << 11 | moment.tm_min << 5 | moment.tm_sec >> 1)
