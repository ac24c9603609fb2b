"""What is read of PE images: small ones of every kind, also as pefile reads them, and damaged ones."""

import io
from struct import pack

import pefile
import pytest

from develop.testing.pe_sample import PE_OFFSET, Sample
from lib.elf.source import ElfError
from lib.pe import constants as c
from lib.pe.model import Import, PeImage, Symbol
from lib.pe.reader import is_pe, read_pe

FULL = Sample(
    exports=("first", "?second@@YAXXZ" + "x" * 5000),
    unnamed=2,
    imports=(("KERNEL32.dll", ("Sleep", 7)), ("amdhip64_7.dll", ("hipMalloc",)), ("Kernel32.DLL", ("Beep",))),
    delayed=(("comgr.dll", ("amd_comgr_create_data", 3)),),
    sections=((".hip_fat", b"code"), (".hipFbSegment", b"pointers")),
)


def read(sample: Sample) -> PeImage:
    return read_pe(io.BytesIO(sample.build()), "a.dll")


@pytest.mark.parametrize("magic", [c.PE32, c.PE32_PLUS])
def test_what_a_dll_says(magic: int) -> None:
    image = read(Sample(**{**vars(FULL), "magic": magic}))
    assert (image.machine, image.magic, image.is_dll) == (c.IMAGE_FILE_MACHINE_AMD64, magic, True)
    assert image.subsystem == c.IMAGE_SUBSYSTEM_WINDOWS_CUI
    assert [section.name for section in image.sections] == [".text", ".rdata", ".hip_fat", ".hipFbSegment"]
    assert image.exports == (
        Symbol("first", 1),
        Symbol("?second@@YAXXZ" + "x" * 5000, 2),
        Symbol(None, 3),
        Symbol(None, 4),
    )
    assert image.imports == (
        Import("KERNEL32.dll", (Symbol("Sleep", None), Symbol(None, 7))),
        Import("amdhip64_7.dll", (Symbol("hipMalloc", None),)),
        Import("Kernel32.DLL", (Symbol("Beep", None),)),
        Import("comgr.dll", (Symbol("amd_comgr_create_data", None), Symbol(None, 3)), delayed=True),
    )
    assert image.libraries == ("amdhip64_7.dll", "kernel32.dll")
    assert not image.is_managed


def test_what_is_not_there() -> None:
    image = read(Sample(name=None, exports=(), imports=(), dll=False, subsystem=c.IMAGE_SUBSYSTEM_WINDOWS_GUI))
    assert (image.exports, image.imports) == ((), ())
    assert not image.is_dll
    assert image.subsystem == c.IMAGE_SUBSYSTEM_WINDOWS_GUI


def test_what_pefile_reads() -> None:
    data = FULL.build()
    image, theirs = read(FULL), pefile.PE(data=data)
    imports = [*theirs.DIRECTORY_ENTRY_IMPORT, *theirs.DIRECTORY_ENTRY_DELAY_IMPORT]
    assert [one.library for one in image.imports] == [one.dll.decode() for one in imports]
    ordinals = [[one.ordinal for one in table.imports if one.import_by_ordinal] for table in imports]
    assert [[one.ordinal for one in table.symbols if one.name is None] for table in image.imports] == ordinals
    exports = theirs.DIRECTORY_ENTRY_EXPORT.symbols
    # It cuts names after 512 bytes.
    assert [((one.name or "")[:512], one.ordinal) for one in image.exports] == [
        ((one.name or b"").decode(), one.ordinal) for one in exports
    ]
    assert [section.virtual_address for section in image.sections] == [
        section.VirtualAddress for section in theirs.sections
    ]


def test_memory_beyond_the_file_is_zero() -> None:
    """A table may lie where a section has no bytes in the file: then it is empty."""
    sample = Sample(imports=(), zeros=5000)
    data = bytearray(sample.build())
    directory = PE_OFFSET + 24 + 112 + 8 * c.IMPORT_TABLE
    data[directory : directory + 8] = pack("<II", 0x2000 + 4096, 40)
    image = read_pe(io.BytesIO(data), "a.dll")
    assert image.imports == ()
    _, tables = image.sections
    assert image.offset_of(tables.virtual_address) == tables.begin
    assert image.offset_of(tables.virtual_address + tables.size_of_raw_data) is None


@pytest.mark.parametrize(("head", "is_one"), [(b"MZ\x90\0", True), (b"\x7fELF", False), (b"M", False), (b"", False)])
def test_what_may_be_an_image(head: bytes, is_one: bool) -> None:
    assert is_pe(head) is is_one


def changed(at: int, value: bytes, sample: Sample = FULL) -> bytes:
    data = bytearray(sample.build())
    data[at : at + len(value)] = value
    return bytes(data)


OPTIONAL = PE_OFFSET + 24


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "the DOS header takes 2 bytes"),
        (b"\x7fELF", "not a PE image: it does not begin with MZ"),
        (b"MZ", "the offset of the PE header takes 4 bytes"),
        (changed(0x3C, pack("<I", 1 << 31)), "the PE header takes 24 bytes from 0x80000000"),
        (changed(PE_OFFSET, b"NE\0\0"), r"the signature is b'NE\\x00\\x00', not b'PE\\x00\\x00'"),
        (changed(OPTIONAL, b"\x07\x01"), "the optional header's magic is 0x107, neither PE32 nor PE32"),
        (changed(PE_OFFSET + 20, pack("<H", 20)), "the optional header takes 20 bytes; expected at least 112"),
        (changed(PE_OFFSET + 6, b"\xff\xff"), "the table of 65535 sections takes 2621400 bytes"),
        (FULL.build()[:-1600], "section '.rdata'|section '.hip_fat'"),
        (changed(OPTIONAL + 112 + 8, pack("<II", 0x900000, 40)), "the import table is at RVA 0x900000, which is in no"),
        (
            changed(OPTIONAL + 112, pack("<II", 0x900000, 40)),
            "the export table is at RVA 0x900000, which is in no sect",
        ),
    ],
)
def test_damage_is_an_error_that_says_where(data: bytes, error: str) -> None:
    with pytest.raises(ElfError, match=error) as raised:
        read_pe(io.BytesIO(data), "a.dll")
    assert str(raised.value).startswith("a.dll: at file offset 0x")
    assert raised.value.offset <= len(data)
