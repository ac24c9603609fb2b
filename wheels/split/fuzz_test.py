"""Hundreds of damaged wheels."""

from pathlib import Path

from develop.testing.fat_wheel import FAT
from develop.testing.fat_wheel_fuzz import SHAPES, fuzzer

ROUNDS = 300


def test_damaged_wheels_are_split_or_refused(tmp_path: Path) -> None:
    assert set(fuzzer([], tmp_path).run(0, range(ROUNDS))) == {"refused", "split"}


def test_whole_samples_are_split(tmp_path: Path) -> None:
    cases = [(FAT.filename, shape, FAT.build()) for shape in SHAPES]
    assert [fuzzer([], tmp_path).answer(case) for case in cases] == ["split"] * 2
