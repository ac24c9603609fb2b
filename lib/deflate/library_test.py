"""Tests of libdeflate's runs: they can be joined in any order, and inflate with zlib."""

import hashlib
import random
import resource
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.deflate.library import BLOCK_BYTES, FINAL_BLOCK, crc32, deflate_block

DATA = st.one_of(
    st.binary(max_size=300), st.builds(lambda piece, times: piece * times, st.binary(max_size=9), st.integers(0, 999))
)
#: Text with repetitions near and far, and noise in between.
SAMPLE = b"".join(
    b"%d of %d\n" % (number * number % 9973, number) + random.Random(number).randbytes(number % 3)
    for number in range(60_000)
)


def inflate(deflated: bytes) -> bytes:
    """Inflate a stream that has to end with its last byte."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    data = inflater.decompress(deflated)
    assert inflater.eof
    assert inflater.unused_data == b""
    return data


@given(st.lists(st.tuples(DATA, st.integers(1, 12)), max_size=8))
def test_runs_of_any_levels_can_be_joined(parts: list[tuple[bytes, int]]) -> None:
    joined = b"".join(deflate_block(data, level) for data, level in parts) + FINAL_BLOCK
    assert inflate(joined) == b"".join(data for data, _ in parts)


@given(st.lists(st.tuples(DATA, st.booleans()), max_size=8), st.integers(1, 12))
def test_what_is_packed_is_stored_and_the_rest_deflated(parts: list[tuple[bytes, bool]], level: int) -> None:
    data, packed = b"", []
    for part, is_packed in parts:
        if is_packed:
            packed.append(range(len(data), len(data) + len(part)))
        data += part
    deflated = deflate_block(data, level, packed=packed)
    assert inflate(deflated + FINAL_BLOCK) == data
    assert all(data[stored.start : stored.stop] in deflated for stored in packed)


@given(DATA, st.integers(1, 12))
def test_a_run_ends_at_a_byte_boundary_unfinished(data: bytes, level: int) -> None:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    assert inflater.decompress(deflate_block(data, level)) == data
    assert not inflater.eof
    # What follows is read as a header: an empty final block, with no bits in between.
    assert inflater.decompress(FINAL_BLOCK) == b""
    assert inflater.eof


@pytest.mark.parametrize("level", range(1, 13))
def test_every_level_ends_in_every_bit_of_a_byte(level: int) -> None:
    for size in range(2000, 2080):
        data = SAMPLE[size : 2 * size]
        assert inflate(deflate_block(data, level) + deflate_block(data, level) + FINAL_BLOCK) == 2 * data


@pytest.mark.parametrize("size", [0, 1, 10, 55, 56, 57, 100, 65_535, 65_536, 70_000, 1 << 20])
@pytest.mark.parametrize("level", [1, 5, 9, 12])
def test_what_does_not_shrink_is_stored(size: int, level: int) -> None:
    data = random.Random(size).randbytes(size)
    deflated = deflate_block(data, level)
    # RFC 1951, 3.2.4: a stored block takes 5 bytes more than its at most 65,535 bytes of data.
    assert len(deflated) <= size + 5 * (size // 10_000 + 2)
    # Of a few bytes, a block with fixed codes can be the shorter one.
    assert size < 100 or data[:50] in deflated
    assert inflate(deflated + FINAL_BLOCK) == data


def test_what_is_compressed_already_is_stored_at_once() -> None:
    """By pieces of 64 KiB: text before, between and behind them is deflated; so is what is short."""
    dense = zlib.compress(bytes(random.Random(1).choices(range(100), k=1_000_000)), 1)
    stored = deflate_block(dense, 5, store_dense=True)
    assert len(stored) == len(dense) + 5 * -(-len(dense) // 65_535)
    assert inflate(stored + FINAL_BLOCK) == dense
    piece = 65_536
    text, noise = SAMPLE[: 2 * piece], dense[: 2 * piece]
    for data in (text + noise + text, noise + text + noise, text + noise, noise + text):
        mixed = deflate_block(data, 5, store_dense=True)
        assert inflate(mixed + FINAL_BLOCK) == data
        assert noise[:piece] not in mixed, "a stored block has at most 65,535 bytes"
        assert mixed.count(noise[: piece - 1]) == data.count(noise)
        assert len(mixed) < len(data) - data.count(text) * len(text) // 2
    for data in (SAMPLE, dense[:8_000], bytes(1 << 20), 400 * dense[:1_500], b""):
        assert deflate_block(data, 5, store_dense=True) == deflate_block(data, 5)


def test_the_bytes_are_these_on_every_machine() -> None:
    """Golden digests: they change with the version of libdeflate, and with nothing else."""
    # From x86_64; also of other CPUs, since what is chosen at run time (CRC-32) is exact.
    digests = [hashlib.sha256(deflate_block(SAMPLE, level)).hexdigest()[:16] for level in (5, 1, 9)]
    assert digests == ["b75c4eec80a7d394", "828137f8f01d5a83", "b9ef10ca710ceae6"]


def test_many_threads_at_once_give_the_same() -> None:
    data = [SAMPLE[start:] for start in range(64)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda block: deflate_block(block, 1), data)) == [
            deflate_block(block, 1) for block in data
        ]


def test_a_whole_block_and_more() -> None:
    data = (SAMPLE * 3)[: 2 * BLOCK_BYTES + 5]
    assert inflate(deflate_block(data, 5) + FINAL_BLOCK) == data


def test_a_level_that_is_none() -> None:
    with pytest.raises(ValueError, match="deflate level 13: expected 0 to 12"):
        deflate_block(b"x", 13)


@given(st.binary(), st.binary())
def test_crc_goes_on(first: bytes, second: bytes) -> None:
    assert crc32(second, crc32(first)) == zlib.crc32(first + second)


def test_compressors_go_with_their_threads() -> None:
    deflated = deflate_block(b"abc" * 100, 5)
    limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + (32 << 10)
    for _ in range(300):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(deflate_block, b"abc" * 100, 5).result() == deflated
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < limit
