"""Tests of deflated blocks: they can be joined in any order, and inflate with zlib."""

import random
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.pack import deflate as module
from tools.pack.deflate import FINAL_BLOCK, LEVELS, blocks, deflate, deflate_block

DATA = st.one_of(
    st.binary(max_size=300), st.builds(lambda piece, times: piece * times, st.binary(max_size=9), st.integers(0, 999))
)


def inflate(deflated: bytes) -> bytes:
    """Inflate a stream that has to end with its last byte."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    data = inflater.decompress(deflated)
    assert inflater.eof
    assert inflater.unused_data == b""
    return data


@given(st.lists(st.tuples(DATA, st.sampled_from(sorted(LEVELS.values()))), max_size=8))
def test_blocks_of_any_levels_can_be_joined(parts: list[tuple[bytes, int]]) -> None:
    joined = b"".join(deflate_block(data, level) for data, level in parts) + FINAL_BLOCK
    assert inflate(joined) == b"".join(data for data, _ in parts)


@given(DATA)
def test_a_block_ends_at_a_byte_boundary_unfinished(data: bytes) -> None:
    deflated = deflate_block(data, 1)
    assert deflated.endswith(b"\0\0\xff\xff")
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    assert inflater.decompress(deflated) == data
    assert not inflater.eof


@pytest.mark.parametrize("size", [100, 70_000, 1 << 20])
def test_what_does_not_shrink_is_stored(size: int) -> None:
    data = random.Random(size).randbytes(size)
    deflated = deflate_block(data, 9)
    # RFC 1951, 3.2.4: a stored block takes 5 bytes more than its at most 65,535 bytes of data.
    assert len(deflated) <= size + 5 * (size // 16_383 + 2)
    assert data[:50] in deflated
    assert inflate(deflated + FINAL_BLOCK) == data


def test_small_is_smaller() -> None:
    data = b"".join(f"{number * number % 9973} of {number}\n".encode() for number in range(20_000))
    assert len(deflate_block(data, LEVELS["small"])) < len(deflate_block(data, LEVELS["balanced"])) < len(data) // 2


@given(st.lists(st.binary(max_size=25), max_size=9))
def test_chunks_of_any_size_are_cut_into_blocks(chunks: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_BYTES", 10)
        cut = list(blocks(chunks))
    assert b"".join(cut) == b"".join(chunks)
    assert all(len(block) == 10 for block in cut[:-1])
    assert all(1 <= len(block) <= 10 for block in cut)


def test_results_come_in_order_and_the_same_from_any_number_of_threads() -> None:
    data = [random.Random(number).randbytes(1000) * (number % 7) for number in range(40)]
    results = set()
    for threads in (1, 2, 3, 4):
        with ThreadPoolExecutor(threads) as pool:
            results.add(b"".join(deflate(data, 1, pool, 2 * threads)))
    assert len(results) == 1
    assert inflate(results.pop() + FINAL_BLOCK) == b"".join(data)


def test_only_a_few_blocks_are_in_memory() -> None:
    taken = 0

    def stream() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(20):
            taken += 1
            yield b"x"

    with ThreadPoolExecutor(1) as pool:
        for done, _ in enumerate(deflate(stream(), 1, pool, ahead=3), 1):
            assert taken <= done + 3
    assert taken == 20
