"""A minute of damaged files, and the ones that once found something (`corpus/`)."""

import random
import time
from pathlib import Path

import pytest

from tools.elf.fuzz import SAMPLES, check, run, wish

SECONDS = 60
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.elf"))


def test_damaged_files_give_answers_or_errors() -> None:
    outcomes = run(seed=0, numbers=range(1 << 40), seeds=[s.build() for s in SAMPLES], until=time.monotonic() + SECONDS)
    assert not [name for name in outcomes if name.startswith("FOUND")]
    assert {"error", "identity", "in-place", "slack", "last-segment", "new-segment", "refused"} <= set(outcomes)
    assert sum(outcomes.values()) > 100 * SECONDS


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_was_found_stays_found(path: Path) -> None:
    for number in range(200):
        check(path.read_bytes(), wish(random.Random(number)))
