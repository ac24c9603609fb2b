"""Tests of xz by many threads, read by lzma."""

import lzma
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.actions.link import xz
from tools.actions.link.run import join
from tools.actions.link.xz import xz_runs


def compress(chunks: list[bytes], threads: int, directory: Path) -> bytes:
    path = directory / f"scratch{threads}"
    with path.open("wb") as scratch:
        return b"".join(join(xz_runs(chunks, threads, scratch)).inflated())


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xz, "PART_BYTES", 1000)


CHUNKS = [random.Random(number).randbytes(number % 50) * 30 for number in range(99)]


def test_any_number_of_threads_gives_the_same(tmp_path: Path) -> None:
    results = {compress(CHUNKS, threads, tmp_path) for threads in (1, 2, 3)}
    assert len(results) == 1
    assert lzma.decompress(results.pop()) == b"".join(CHUNKS)


def test_it_has_a_strong_check(tmp_path: Path) -> None:
    # The xz file format, 2.1.1.2: stream flags 0x0A say SHA-256.
    assert compress([b"x"], 1, tmp_path)[:8] == b"\xfd7zXZ\0\0\x0a"


def test_only_a_few_parts_are_in_memory(tmp_path: Path) -> None:
    taken = 0

    def stream() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(20):
            taken += 1
            yield bytes(1000)

    with (tmp_path / "scratch").open("wb") as scratch:
        for done, _ in enumerate(xz_runs(stream(), 2, scratch), 1):
            assert taken <= done + 2
    assert taken == 20
