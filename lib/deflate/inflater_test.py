"""Tests of the inflater: any stream, whoever wrote it and however it is cut, in bounded memory."""

import hashlib
import random
import resource
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.deflate import library
from lib.deflate.library import FINAL_BLOCK, IN_BYTES, OUT_BYTES, InflateError, deflate_block, inflate

DATA = st.one_of(
    st.binary(max_size=300), st.builds(lambda piece, times: piece * times, st.binary(max_size=9), st.integers(0, 9999))
)
#: Text with repetitions near and far, and noise in between: 3 MB.
SAMPLE = b"".join(
    b"%d of %d\n" % (number * number % 9973, number) + random.Random(number).randbytes(number % 3)
    for number in range(200_000)
)
#: It, as zlib writes it: in blocks that end at any bit.
STREAMS = [zlib.compress(SAMPLE, level, wbits=-15) for level in (0, 1, 6, 9)]


def inflated(stream: bytes, size: int, cut: int = 1 << 20) -> bytes:
    """Inflate a stream that comes in chunks."""
    chunks = (stream[start : start + cut] for start in range(0, len(stream), cut))
    return b"".join(map(bytes, inflate(chunks, len(stream), size)))


@given(st.lists(st.tuples(DATA, st.integers(0, 12)), max_size=8), st.integers(1, 99))
def test_joined_runs(parts: list[tuple[bytes, int]], cut: int) -> None:
    data = b"".join(data for data, _ in parts)
    stream = b"".join(deflate_block(data, level) for data, level in parts) + FINAL_BLOCK
    assert inflated(stream, len(data), cut) == data


@given(st.lists(DATA, max_size=8), st.integers(0, 9), st.sampled_from([zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED]))
def test_streams_of_other_programs(parts: list[bytes], level: int, strategy: int) -> None:
    """Their blocks end at any bit, and matches lead from one into another."""
    deflater = zlib.compressobj(level, wbits=-15, strategy=strategy)
    stream = b"".join(deflater.compress(part) + deflater.flush(zlib.Z_BLOCK) for part in parts) + deflater.flush()
    data = b"".join(parts)
    assert inflated(stream, len(data), 100) == data


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(STREAMS), st.integers(150_000, 400_000), st.integers(700_000, 900_000))
def test_blocks_that_no_buffer_ends_with(stream: bytes, room_in: int, room_out: int) -> None:
    """Buffers end in the middle of blocks: the next round begins with the block, at its bit, behind its window."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "IN_BYTES", room_in)
        patch.setattr(library, "OUT_BYTES", room_out)
        assert inflated(stream, len(SAMPLE)) == SAMPLE


@pytest.mark.parametrize("piece", [SAMPLE, bytes(1 << 20), random.Random(1).randbytes(1 << 20)])
def test_many_buffers_full_in_bounded_memory(piece: bytes) -> None:
    run, times = deflate_block(piece[: 1 << 20], 5), 200

    def chunks() -> Iterator[bytes]:
        for _ in range(times):
            yield run
        yield FINAL_BLOCK

    limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + (IN_BYTES + 2 * OUT_BYTES + (4 << 20)) // 1024
    sha256, size = hashlib.sha256(), 0
    for found in inflate(chunks(), times * len(run) + len(FINAL_BLOCK), times << 20):
        sha256.update(found)
        size += len(found)
    assert size == times << 20
    assert sha256.digest() == hashlib.sha256(piece[: 1 << 20] * times).digest()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < limit + (times << 10)


@pytest.mark.parametrize("level", [0, 1, 6])
def test_a_stream_that_is_cut_is_refused(level: int) -> None:
    stream = zlib.compress(SAMPLE[:5000], level, wbits=-15)
    for length in range(0, len(stream), 7):
        with pytest.raises(InflateError):
            inflated(stream[:length], 5000)


def test_a_stream_that_inflates_to_more_than_it_says_is_refused() -> None:
    with pytest.raises(InflateError, match="expected whole blocks of raw deflate that inflate to 99 bytes"):
        inflated(deflate_block(bytes(100), 5) + FINAL_BLOCK, 99)


@given(st.binary(max_size=200))
def test_noise_is_refused_or_inflated_as_zlib_does(noise: bytes) -> None:
    other = zlib.decompressobj(-15)
    try:
        expected: bytes | None = other.decompress(noise)
    except zlib.error:
        expected = None
    if not other.eof or other.unused_data:
        expected = None
    try:
        found: bytes | None = inflated(noise, OUT_BYTES)
    except InflateError:
        found = None
    assert found == expected


def test_what_follows_the_final_block_is_refused() -> None:
    for more in (b"\0", bytes(IN_BYTES + 1)):
        with pytest.raises(InflateError, match="bytes follow the final block"):
            inflated(deflate_block(b"x", 5) + FINAL_BLOCK + more, 1)


def test_a_piece_stays_while_the_next_one_is_made() -> None:
    """So a second thread can digest it meanwhile."""
    run, last = deflate_block(SAMPLE[: 1 << 20], 5), None
    stream = run * 40 + FINAL_BLOCK
    for piece in inflate([stream], len(stream), 40 << 20):
        if last:
            assert hashlib.sha256(last[0]).digest() == last[1]
        last = piece, hashlib.sha256(piece).digest()
