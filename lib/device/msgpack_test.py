"""Tests of decoding MessagePack; the examples come from its specification."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.device.msgpack import MAX_DEPTH, MsgpackError, decode


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("82 a7 636f6d70616374 c3 a6 736368656d61 00", {"compact": True, "schema": 0}),
        ("c0", None),
        ("c2", False),
        ("7f", 127),
        ("e0", -32),
        ("ff", -1),
        ("cc ff", 255),
        ("cd 0100", 256),
        ("ce 00010000", 65536),
        ("cf 0000000100000000", 1 << 32),
        ("d0 80", -128),
        ("d1 8000", -32768),
        ("d2 80000000", -(1 << 31)),
        ("d3 8000000000000000", -(1 << 63)),
        ("ca 3fc00000", 1.5),
        ("cb 3ff8000000000000", 1.5),
        ("93 01 a1 61 c4 02 ff00", [1, "a", b"\xff\x00"]),
        ("d9 03 e282ac", "€"),
        ("da 0001 61", "a"),
        ("db 00000001 61", "a"),
        ("c5 0001 00", b"\0"),
        ("c6 00000001 00", b"\0"),
        ("dc 0001 05", [5]),
        ("dd 00000001 05", [5]),
        ("de 0001 a161 05", {"a": 5}),
        ("df 00000001 a161 05", {"a": 5}),
    ],
)
def test_values(text: str, value: object) -> None:
    assert decode(bytes.fromhex(text)) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "ends inside"),
        ("a2 61", "ends inside"),
        ("dd ffffffff 01", "fewer bytes"),
        ("df 7fffffff a1", "fewer bytes"),
        ("c1", "begins no value"),
        ("c0 c0", "behind the document"),
        ("81 90 01", "a list or a map"),
        ("91" * (MAX_DEPTH + 2), "nested deeper"),
    ],
)
def test_what_is_no_document(text: str, reason: str) -> None:
    with pytest.raises(MsgpackError, match=reason):
        decode(bytes.fromhex(text))


@given(st.binary(max_size=200))
def test_nothing_else_is_raised(data: bytes) -> None:
    with suppress(MsgpackError):
        decode(data)
