"""Thousands of damaged libraries and bundle files, sliced."""

from develop.testing.slice_fuzz import SLICE_SAMPLES, TARGETS, check, fuzzer

ROUNDS = 5_000


def test_damaged_files_give_right_slices_or_errors() -> None:
    outcomes = fuzzer(SLICE_SAMPLES).run(0, range(ROUNDS))
    assert set(outcomes) - {"unread"} == {"error", "identity", "resized"}


def test_whole_samples_are_sliced() -> None:
    assert {check(data, TARGETS[:1]) for data in SLICE_SAMPLES} == {"resized"}
