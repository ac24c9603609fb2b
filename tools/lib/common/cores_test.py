"""Tests of the number of threads."""

import os

from tools.lib.common.cores import usable_cores


def test_no_more_than_wanted_or_there() -> None:
    there = len(os.sched_getaffinity(0))
    assert usable_cores(1) == 1
    assert usable_cores(10_000) == there
    assert usable_cores(0) == 1
