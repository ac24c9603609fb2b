"""Tests of reading archives of device code, the references to them, and MessagePack: the specification's examples."""

import io
from contextlib import suppress
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from develop.testing.tiny_elf import program
from lib.device.kpack import (
    MAX_DEPTH,
    REFERENCE_SECTION,
    KpackReference,
    MsgpackError,
    decode,
    read_kpack,
    read_reference,
)
from lib.elf.reader import read_elf
from lib.elf.source import ElfError


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


#: {"toc": {"lib/a.so#0": {"gfx90a:xnack+": {"original_size": 9}, "gfx1100": {}}}}
TOC = b"\x81\xa3toc\x81\xaalib/a.so#0\x82\xadgfx90a:xnack+\x81\xadoriginal_size\x09\xa7gfx1100\x80"
ARCHIVE = pack("<4sIQ", b"KPAK", 1, 64) + bytes(48) + TOC
REFERENCE = b"\x82\xabkernel_name\xa8lib/a.so\xb2kpack_search_paths\x91\xa6a.kpak"


def test_targets_and_sizes_by_bundle() -> None:
    (name, entries), *others = read_kpack(io.BytesIO(ARCHIVE), "a.kpack").items()
    assert (name, others) == ("lib/a.so#0", [])
    assert [(str(target), size) for target, size in entries] == [("gfx1100", 0), ("gfx90a:xnack+", 9)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"KPA", "truncated"),
        (b"KPAC" + ARCHIVE[4:], "begins with b'KPAC'"),
        (pack("<4sIQ", b"KPAK", 2, 64) + ARCHIVE[16:], "version 2"),
        (pack("<4sIQ", b"KPAK", 1, 1 << 40) + ARCHIVE[16:], "said to lie at"),
        (ARCHIVE[:-3], "no table of contents"),
        (ARCHIVE[:64] + b"\x90", "no table of contents"),
        (ARCHIVE.replace(b"gfx1100", b"gfx-xyz"), "no table of contents"),
    ],
)
def test_damage_is_an_error(data: bytes, reason: str) -> None:
    with pytest.raises(ElfError, match=reason):
        read_kpack(io.BytesIO(data), "a.kpack")


def reference(content: bytes, section: str = REFERENCE_SECTION) -> KpackReference | None:
    """Read the reference of a program with such a section."""
    file = io.BytesIO(program(section, content))
    return read_reference(file, read_elf(file, "a.so"))


def test_a_reference() -> None:
    assert reference(REFERENCE + bytes(20)) == KpackReference("lib/a.so", ("a.kpak",))
    assert reference(REFERENCE, ".other") is None
    with pytest.raises(ElfError, match="rocm_kpack_ref"):
        reference(REFERENCE[:20])
