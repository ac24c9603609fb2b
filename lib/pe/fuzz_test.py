"""Damaged PE images: facts or errors, and nothing else."""

from develop.testing.pe_fuzz import SAMPLES, fuzzer

#: How many files; more come from `python3 -m develop.testing.pe_fuzz`.
COUNT = 10_000


def test_damaged_files_give_facts_or_errors() -> None:
    outcomes = fuzzer([sample.build() for sample in SAMPLES]).run(0, range(COUNT))
    assert not [name for name in outcomes if name.startswith("FOUND")]
    assert {"error", "all", "some"} == set(outcomes)
    assert sum(outcomes.values()) == COUNT
