"""Thousands of damaged files with device code."""

from develop.testing.device_fuzz import SAMPLES, WINDOWS_SAMPLES, check, fuzzer

ROUNDS = 30_000


def test_damaged_files_give_answers_or_errors() -> None:
    outcomes = fuzzer([*SAMPLES, *WINDOWS_SAMPLES]).run(0, range(ROUNDS))
    assert set(outcomes) == {"error", "nothing", "read"}


def test_whole_samples_are_read() -> None:
    assert {check(data) for data in (*SAMPLES, *WINDOWS_SAMPLES)} == {"read"}
