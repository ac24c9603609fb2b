"""Tests of what verbose tools say."""

import re

import pytest

from tools.lib.common.rates import Stopwatch


def test_a_line_with_amounts_and_rate(capsys: pytest.CaptureFixture[str]) -> None:
    Stopwatch(verbose=True).report("packed 3 files", 2_500_000, 1_000_000)
    assert re.fullmatch(r"packed 3 files: 2\.5 MB to 1\.0 MB in \d+\.\d\d s \(\d+ MB/s\)\n", capsys.readouterr().err)


def test_nothing_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Stopwatch(verbose=False).report("packed", 1, 1)
    assert capsys.readouterr() == ("", "")
