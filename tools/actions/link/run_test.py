"""Tests of runs: deflated bytes from segments and from memory, joined to one member."""

import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.actions.link.run import Run, join, packed_run, small_run
from tools.actions.pack.segment import Packed
from tools.lib.deflate.blocks import BLOCK_BYTES


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_joined_runs_inflate_to_the_joined_data(parts: list[bytes]) -> None:
    joined = join(small_run(part) for part in parts)
    data = b"".join(parts)
    deflated = b"".join(joined.chunks())
    assert zlib.decompress(deflated, -zlib.MAX_WBITS) == data
    assert b"".join(joined.inflated()) == data
    assert (joined.length, joined.size, joined.crc32) == (len(deflated), len(data), zlib.crc32(data))


def test_a_run_lies_in_a_segment(tmp_path: Path) -> None:
    first, second = small_run(b"first"), small_run(b"second" * 400_000)
    segment = tmp_path / "segment"
    segment.write_bytes(first.data + second.data + b"more")
    packed = Packed("p", "0644", first.length, second.length, second.size, second.crc32, "")
    joined = join([small_run(b"head"), packed_run(packed, str(segment))])
    assert b"".join(joined.inflated()) == b"head" + b"second" * 400_000


def test_a_segment_that_is_cut_off_is_noticed(tmp_path: Path) -> None:
    segment = tmp_path / "segment"
    segment.write_bytes(b"12345")
    with pytest.raises(EOFError, match=r"segment: ends 7 bytes before the run at 2 does"):
        list(Run(length=10, size=1, crc32=0, segment=str(segment), offset=2).chunks())


def test_inflating_takes_bounded_memory() -> None:
    joined = join([small_run(bytes(64 * BLOCK_BYTES))])
    tracemalloc.start()
    try:
        assert sum(map(len, joined.inflated())) == 64 * BLOCK_BYTES
        assert tracemalloc.get_traced_memory()[1] < 8 * BLOCK_BYTES
    finally:
        tracemalloc.stop()
