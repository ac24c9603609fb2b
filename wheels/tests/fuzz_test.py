"""Thousands of damaged files, of each kind that the checks over a set look into."""

from wheels.tests.fuzz import READERS, SAMPLES, fuzzer

ROUNDS = 6_000


def test_damaged_files_are_read_or_said_to_be_damaged() -> None:
    outcomes = fuzzer().run(0, range(ROUNDS))
    assert set(outcomes) == {f"{kind} {outcome}" for kind in SAMPLES for outcome in ("read", "damaged")}


def test_whole_samples_are_read() -> None:
    assert all(READERS[kind](data) for kind, samples in SAMPLES.items() for data in samples)
