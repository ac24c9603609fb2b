"""Tests of reading archives of device code, and the references to them."""

import io
from struct import pack

import pytest

from develop.testing.tiny_elf import program
from lib.device.kpack import REFERENCE_SECTION, KpackReference, read_kpack, read_reference
from lib.elf.reader import read_elf
from lib.elf.source import ElfError

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
