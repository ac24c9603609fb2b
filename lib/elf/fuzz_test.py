"""A minute of damaged files, and the ones that once found something (`corpus/`)."""

import random
from pathlib import Path

import pytest

from develop.testing.elf_fuzz import SAMPLES, fuzzer, wish

#: How many files; more come from `python3 -m develop.testing.elf_fuzz`.
COUNT = 10_000
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.elf"))


def test_damaged_files_give_answers_or_errors() -> None:
    outcomes = fuzzer([sample.build() for sample in SAMPLES]).run(0, range(COUNT))
    assert not [name for name in outcomes if name.startswith("FOUND")]
    assert {"error", "identity", "in-place", "slack", "last-segment", "new-segment", "refused"} <= set(outcomes)
    assert sum(outcomes.values()) == COUNT


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_was_found_stays_found(path: Path) -> None:
    found = fuzzer([])
    for number in range(200):
        found.answer((path.read_bytes(), wish(random.Random(number))))
