"""Tests of streams of blocks."""

import random
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from lib.deflate.library import FINAL_BLOCK, blocks, deflate_block, in_order


def deflate_fast(block: bytes) -> bytes:
    return deflate_block(block, 1)


@given(st.lists(st.binary(max_size=25), max_size=9))
def test_chunks_of_any_size_are_cut_into_blocks(chunks: list[bytes]) -> None:
    cut = list(blocks(chunks, 10))
    assert b"".join(cut) == b"".join(chunks)
    assert all(len(block) == 10 for block in cut[:-1])
    assert all(1 <= len(block) <= 10 for block in cut)


def test_results_come_in_order_and_the_same_from_any_number_of_threads() -> None:
    data = [random.Random(number).randbytes(1000) * (number % 7) for number in range(40)]
    results = set()
    for threads in (1, 2, 3, 4):
        with ThreadPoolExecutor(threads) as pool:
            results.add(b"".join(in_order(deflate_fast, data, pool, 2 * threads)))
    assert len(results) == 1
    assert zlib.decompress(results.pop() + FINAL_BLOCK, -zlib.MAX_WBITS) == b"".join(data)


def test_only_a_few_blocks_are_in_memory() -> None:
    taken = 0

    def stream() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(20):
            taken += 1
            yield b"x"

    with ThreadPoolExecutor(1) as pool:
        for done, _ in enumerate(in_order(deflate_fast, stream(), pool, ahead=3), 1):
            assert taken <= done + 3
    assert taken == 20
