"""Tests of runs: deflated bytes from segments and from memory, joined to one member."""

import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.deflate.library import BLOCK_BYTES
from lib.wheel.deflated_run import Run, combine, join, small_run


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_joined_runs_inflate_to_the_joined_data(parts: list[bytes]) -> None:
    joined = join(small_run(part) for part in parts)
    data = b"".join(parts)
    deflated = b"".join(joined.chunks())
    assert zlib.decompress(deflated, -zlib.MAX_WBITS) == data
    assert b"".join(joined.inflated()) == data
    assert (joined.length, joined.size, joined.crc32) == (len(deflated), len(data), zlib.crc32(data))


def test_a_segment_that_is_cut_off_is_noticed(tmp_path: Path) -> None:
    segment = tmp_path / "segment"
    segment.write_bytes(b"12345")
    with pytest.raises(EOFError, match=r"segment: expected 10 bytes at offset 2; the file ends 7 bytes earlier"):
        list(Run(length=10, size=1, crc32=0, segment=str(segment), offset=2).chunks())


def test_inflating_takes_bounded_memory() -> None:
    joined = join([small_run(bytes(64 * BLOCK_BYTES))])
    tracemalloc.start()
    try:
        assert sum(map(len, joined.inflated())) == 64 * BLOCK_BYTES
        assert tracemalloc.get_traced_memory()[1] < 32 * BLOCK_BYTES
    finally:
        tracemalloc.stop()


@given(st.binary(), st.binary())
def test_combined_as_if_joined(first: bytes, second: bytes) -> None:
    assert combine(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)


@given(st.integers(0, 0xFFFFFFFF), st.integers(0, 1 << 20))
def test_a_long_second_part(first: int, size: int) -> None:
    zeros = bytes(size)
    assert combine(first, zlib.crc32(zeros), size) == zlib.crc32(zeros, first)


def test_the_size_of_gigabytes() -> None:
    size = 5 << 30
    half = combine(1, zlib.crc32(b""), 0)
    assert half == 1
    # Twice 2.5 GiB of a repeated CRC is what one step of 5 GiB makes: x^a * x^b = x^(a + b).
    assert combine(combine(0xDEADBEEF, 0, size // 2), 0, size // 2) == combine(0xDEADBEEF, 0, size)
