"""What is read of a file: from samples, compared with pyelftools, and what is said of damage."""

import io
import struct
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from develop.testing.elf_sample import BUILD_ID, Sample
from develop.testing.tiny_elf import program
from lib.elf import constants as c
from lib.elf.model import ElfFile, ProgramHeader
from lib.elf.reader import is_elf, read_elf
from lib.elf.source import ElfError


def read(data: bytes) -> ElfFile:
    return read_elf(io.BytesIO(data), "sample.so")


def test_facts() -> None:
    versions = (("libc.so.6", ("GLIBC_2.34", "GLIBC_2.2.5")), ("libm.so.6", ("GLIBC_2.29",)))
    sample = Sample(needed=("libm.so.6", "libc.so.6"), rpath="/a:$ORIGIN", runpath="/b", versions=versions, spare=2)
    elf = read(sample.build())
    assert (elf.elf_class, elf.little_endian, elf.type, elf.machine) == (64, True, c.ET_DYN, c.EM_X86_64)
    assert (elf.soname, elf.needed, elf.rpath, elf.runpath) == ("libsample.so.1", sample.needed, "/a:$ORIGIN", "/b")
    assert elf.versions_needed == dict(versions)
    assert elf.build_id == BUILD_ID.hex()
    assert [(note.owner, note.type, note.size) for note in elf.notes] == [("GNU", c.NT_GNU_BUILD_ID, 20)]
    assert (elf.dynamic_spare, elf.has_dynamic, elf.interpreter, elf.is_program) == (2, True, None, False)


def test_required_versions_end_where_the_last_one_says_so() -> None:
    """As for the loader. By the count alone, a damaged file has the same one 65,535 times."""
    data = bytearray(Sample(versions=(("libc.so.6", ("GLIBC_2.34", "GLIBC_2.2.5")),)).build())
    section = next(section for section in read(bytes(data)).section_headers if section.name == ".gnu.version_r")
    struct.pack_into("<H", data, section.offset + 2, 65535)
    assert read(bytes(data)).versions_needed == {"libc.so.6": ("GLIBC_2.34", "GLIBC_2.2.5")}


@pytest.mark.parametrize(
    ("offset", "vaddr", "size", "expected"),
    [
        (0x1000, 0x5000, 0x20, 0xFF0),
        (0x1000, 0x5000, 0x30, None),
        (0x1008, 0x5000, 0x20, None),
        (0x1000, 0x5008, 0x20, None),
    ],
)
def test_a_table_may_lie_in_two_segments_that_follow_each_other(
    offset: int, vaddr: int, size: int, expected: int | None
) -> None:
    """Programs that patchelf made are so: NVIDIA's ptxas in a wheel of Triton has its symbols in two segments."""
    first = ProgramHeader(64, c.PT_LOAD, c.PF_R, 0, 0x4000, 0x4000, 0x1000, 0x1000, 0x1000)
    second = replace(first, offset=offset, vaddr=vaddr, filesz=0x10, memsz=0x10)
    elf = replace(read(Sample().build()), program_headers=(first, second))
    assert elf.offset_of(0x4FF0, size) == expected


def test_absent_facts() -> None:
    elf = read(Sample(soname=None, needed=(), versions=(), sections=False).build())
    assert (elf.soname, elf.needed, elf.rpath, elf.runpath, elf.versions_needed) == (None, (), None, None, {})
    assert elf.section_headers == ()


def test_program() -> None:
    elf = read(Sample(interpreter="/lib64/ld.so", soname=None, machine=c.EM_AARCH64).build())
    assert (elf.interpreter, elf.is_program, elf.machine) == ("/lib64/ld.so", True, c.EM_AARCH64)
    assert not read(Sample(interpreter="/lib64/ld.so", soname="libc.so.6").build()).is_program
    assert read(Sample(kind=c.ET_EXEC).build()).is_program


def test_agrees_with_pyelftools_on_this_interpreter() -> None:
    path = Path(sys.executable).resolve()
    with path.open("rb") as file:
        elf = read_elf(file, str(path))
        other = ELFFile(file)
        dynamic = other.get_section_by_name(".dynamic")
        assert isinstance(dynamic, DynamicSection)
        assert list(elf.needed) == [getattr(tag, "needed", None) for tag in dynamic.iter_tags("DT_NEEDED")]
        assert [header.type for header in elf.section_headers] == [_number(s["sh_type"]) for s in other.iter_sections()]
        assert [s.name for s in elf.section_headers] == [s.name for s in other.iter_sections()]
        assert [p.vaddr for p in elf.program_headers] == [p["p_vaddr"] for p in other.iter_segments()]
        assert [e.value for e in elf.dynamic] == [tag["d_val"] for tag in dynamic.iter_tags()][: len(elf.dynamic)]


def _number(name: int | str) -> int:
    from elftools.elf.enums import ENUM_SH_TYPE_BASE

    return name if isinstance(name, int) else ENUM_SH_TYPE_BASE[name]


@pytest.mark.parametrize(
    ("elf_class", "order", "expected"), [(1, 1, (32, True)), (2, 2, (64, False)), (1, 2, (32, False))]
)
def test_other_classes_and_byte_orders_give_the_plain_facts(
    elf_class: int, order: int, expected: tuple[int, bool]
) -> None:
    word = "Q" if elf_class == 2 else "I"
    fields = struct.pack(f"{'<' if order == 1 else '>'}HHI3{word}I", c.ET_DYN, 40, 1, 0, 52, 0, 0x5000400)
    elf = read(b"\x7fELF" + bytes((elf_class, order, 1)) + bytes(9) + fields + bytes(40))
    assert (elf.elf_class, elf.little_endian) == expected
    assert (elf.type, elf.machine, elf.flags, elf.program_headers) == (c.ET_DYN, 40, 0x5000400, ())


def test_relocatable_files_and_core_dumps_are_not_read_further() -> None:
    for kind in (c.ET_REL, c.ET_CORE):
        assert read(Sample(kind=kind).build()).program_headers == ()


def test_is_elf() -> None:
    assert is_elf(b"\x7fELF\2")
    assert not is_elf(b"\x7fEL")
    assert not is_elf(b"#!/bin/sh")


def test_every_truncation_is_an_error() -> None:
    data = Sample(rpath="$ORIGIN").build()
    for size in range(len(data)):
        with pytest.raises(ElfError) as caught:
            read(data[:size])
        assert caught.value.path == "sample.so"
        assert 0 <= caught.value.offset <= size
    read(data)


@pytest.mark.parametrize(
    ("at", "value", "reason"),
    [
        (0, b"PK\3\4", "not an ELF file"),
        (4, b"\3", "EI_CLASS is 3"),
        (5, b"\0", "EI_DATA is 0"),
        (20, b"\2\0\0\0", "e_version is 2"),
        (54, b"\x20\0", "e_phentsize is 32"),
        (58, b"\x28\0", "e_shentsize is 40"),
        (62, b"\xff\0", "e_shstrndx is 255"),
        (0x20, b"\xff\xff\xff\xff", "program headers takes"),
        (56, b"\0\x08", "2048 program headers and"),
        (0x28, b"\xff\xff\xff\xff", "the first section header takes"),
    ],
)
def test_damage_is_told_with_offset_and_reason(at: int, value: bytes, reason: str) -> None:
    data = Sample().build()
    with pytest.raises(ElfError, match=reason) as caught:
        read(data[:at] + value + data[at + len(value) :])
    assert str(caught.value).startswith("sample.so: at file offset 0x")


def without_bytes(data: bytes, *kinds: int) -> bytes:
    """Take a file's last PT_LOAD, and further headers of these types, out of it: memory alone, behind its end."""
    elf, changed = read(data), bytearray(data)
    for header in (elf.loads[-1], *(one for one in elf.program_headers if one.type in kinds)):
        struct.pack_into("<Q", changed, header.position + 8, len(data) + 0x1000)
        struct.pack_into("<Q", changed, header.position + 32, 0)
    return bytes(changed)


def test_a_segment_without_bytes_may_lie_behind_the_end_of_the_file() -> None:
    """It is zeroed memory: a program with nothing but .bss has one, whatever offset its linker wrote."""
    elf = read(without_bytes(program(".bss", bytes(64), c.SHT_NOBITS)))
    assert (elf.is_program, elf.has_dynamic, elf.debug_only) == (True, False, False)
    assert (elf.loads[0].offset > elf.size, elf.loads[0].filesz, elf.loads[0].memsz > 0) == (True, 0, True)


def test_debug_information_of_a_library_that_has_no_code() -> None:
    """`objcopy --only-keep-debug` leaves it a PT_DYNAMIC without bytes."""
    elf = read(without_bytes(Sample(sections=False).build(), c.PT_DYNAMIC))
    assert (elf.debug_only, elf.soname, elf.has_dynamic) == (True, None, False)


def test_debug_information_whose_program_headers_are_those_of_the_library() -> None:
    """`eu-strip -f` leaves them as they were."""
    data = bytearray(Sample().build())
    elf = read(bytes(data))
    dynamic = elf.program_header(c.PT_DYNAMIC)
    assert dynamic is not None
    section = next(one for one in elf.section_headers if one.flags & c.SHF_ALLOC and one.addr == dynamic.vaddr)
    struct.pack_into("<I", data, section.position + 4, c.SHT_NOBITS)
    assert read(bytes(data)).debug_only
    assert not elf.debug_only


def test_a_section_of_thread_local_zeros_may_begin_where_the_dynamic_section_does() -> None:
    data = bytearray(Sample().build())
    elf = read(bytes(data))
    dynamic = elf.program_header(c.PT_DYNAMIC)
    assert dynamic is not None
    section = next(one for one in elf.section_headers if one.name == ".comment")
    struct.pack_into("<IQQ", data, section.position + 4, c.SHT_NOBITS, c.SHF_ALLOC, dynamic.vaddr)
    elf = read(bytes(data))
    assert (elf.debug_only, elf.has_dynamic) == (False, True)


def test_a_library_with_room_for_code_is_one() -> None:
    """A compiler at run time may write it there: a section that is executable and has no bytes."""
    data = bytearray(Sample().build())
    section = next(one for one in read(bytes(data)).section_headers if one.name == ".comment")
    struct.pack_into("<IQ", data, section.position + 4, c.SHT_NOBITS, c.SHF_ALLOC | c.SHF_EXECINSTR)
    elf = read(bytes(data))
    assert (elf.debug_only, elf.has_dynamic) == (False, True)


def test_a_section_without_bytes_may_lie_behind_the_end_of_the_file() -> None:
    data = bytearray(Sample(tail=b"").build())
    section = next(section for section in read(bytes(data)).section_headers if section.name == ".comment")
    struct.pack_into("<Q", data, section.position + 24, len(data) + 1)
    assert read(bytes(data)).soname == "libsample.so.1"


def test_dynamic_section_without_end() -> None:
    sample = Sample(spare=0, versions=())
    elf = read(sample.build())
    data = bytearray(sample.build())
    end = elf.dynamic[-1].position + 16
    data[end : end + 16] = struct.pack("<qQ", c.DT_PLTGOT, 0)
    with pytest.raises(ElfError, match="does not end with DT_NULL") as caught:
        read(bytes(data))
    assert caught.value.offset == elf.dynamic[0].position
