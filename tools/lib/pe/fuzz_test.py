"""Damaged PE images, for some seconds."""

import time

from tools.lib.pe.fuzz import SAMPLES, fuzzer

SECONDS = 20


def test_damaged_files_give_facts_or_errors() -> None:
    outcomes = fuzzer([sample.build() for sample in SAMPLES]).run(0, range(1 << 40), until=time.monotonic() + SECONDS)
    assert not [name for name in outcomes if name.startswith("FOUND")]
    assert {"error", "all", "some"} == set(outcomes)
    assert sum(outcomes.values()) > 100 * SECONDS
