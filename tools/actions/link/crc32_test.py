"""Tests of combining CRCs, against zlib."""

import zlib

from hypothesis import given
from hypothesis import strategies as st

from tools.actions.link.crc32 import combine


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
