"""Where strings and tables go: every strategy, on samples, byte by byte."""

import io
import struct

import pytest

from develop.testing.elf_sample import Sample
from lib.elf import constants as c
from lib.elf.dynamic_edit import DynamicEdit
from lib.elf.editor import plan_patch
from lib.elf.free_space import FEW_ZEROS, MOST_ZEROS
from lib.elf.model import ElfFile, ProgramHeader, SectionHeader, refusal
from lib.elf.patch import Patch, Strategy
from lib.elf.reader import read_elf
from lib.elf.source import ElfError

LONG = "$ORIGIN/" + "long/" * 30


def apply(data: bytes, *entries: str) -> tuple[ElfFile, bytes, Patch]:
    """Set a search path; returns the new file's facts, its bytes, and the patch."""
    file = io.BytesIO(data)
    patch = plan_patch(read_elf(file, "sample.so"), file, DynamicEdit(entries))
    result = b"".join(bytes(chunk) for chunk in patch.chunks(file))
    return read_elf(io.BytesIO(result), "sample.so"), result, patch


def section(elf: ElfFile, name: str) -> SectionHeader:
    return next(header for header in elf.section_headers if header.name == name)


def content(elf: ElfFile, data: bytes, name: str) -> bytes:
    header = section(elf, name)
    return data[header.offset : header.offset + header.size]


def last_load(elf: ElfFile) -> ProgramHeader:
    return elf.loads[-1]


def check_tables(elf: ElfFile, data: bytes) -> None:
    """Assert that headers, dynamic entries and symbols agree on where strings and the dynamic section are."""
    strings, dynamic = section(elf, ".dynstr"), section(elf, ".dynamic")
    header = elf.program_header(c.PT_DYNAMIC)
    assert header is not None
    assert (strings.addr, strings.size) == (elf.dynamic_value(c.DT_STRTAB), elf.dynamic_value(c.DT_STRSZ))
    assert strings.offset == elf.offset_of(strings.addr, strings.size)
    assert (dynamic.addr, dynamic.offset, dynamic.size) == (header.vaddr, header.offset, header.filesz)
    assert dynamic.offset == elf.offset_of(dynamic.addr, dynamic.size)
    assert struct.unpack("<Q", content(elf, data, ".data")[:8]) == (dynamic.addr,)
    symbols = list(struct.iter_unpack("<IBBHQQ", content(elf, data, ".symtab")))
    assert [symbol[4] for symbol in symbols[1:4]] == [dynamic.addr] * 3  # in .dynamic, its section, absolute
    assert symbols[4][4] == elf.loads[1].vaddr  # another absolute symbol, where .dynamic was at first
    assert content(elf, data, ".comment") == b"a comment\0"
    assert content(elf, data, ".strtab") == b"\0_DYNAMIC\0other\0"
    assert content(elf, data, ".gnu.hash")[:4] == b"\1\0\0\0"
    assert content(elf, data, ".shstrtab").endswith(b".shstrtab\0")


def with_string_table(size: int) -> bytes:
    """Make a library whose dynamic string table has `size` bytes, most of them zeros, behind all else."""
    data = bytearray(Sample(sections=False).build())
    elf = read_elf(io.BytesIO(data), "sample.so")
    load, entries = last_load(elf), {entry.tag: entry for entry in elf.dynamic}
    at = elf.offset_of(entries[c.DT_STRTAB].value)
    assert at is not None
    table = data[at : at + entries[c.DT_STRSZ].value]
    start = len(data)
    data += table.ljust(size, b"\0")
    whole = len(data) - load.offset
    struct.pack_into("<QQ", data, load.position + 32, whole, whole)  # p_filesz and p_memsz
    struct.pack_into("<Q", data, entries[c.DT_STRTAB].position + 8, load.vaddr + start - load.offset)
    struct.pack_into("<Q", data, entries[c.DT_STRSZ].position + 8, size)
    return bytes(data)


def test_a_library_with_very_many_names() -> None:
    """What bounds them is only what may be held in memory."""
    size = 80 << 20
    elf, _, _ = apply(with_string_table(size), "$ORIGIN/../lib")
    assert (elf.soname, elf.rpath) == ("libsample.so.1", "$ORIGIN/../lib")
    assert elf.dynamic_value(c.DT_STRSZ) in range(size, size + 100)


def test_in_place_when_the_new_string_fits_the_old_one() -> None:
    data = Sample(rpath="/usr/lib/somewhere").build()
    elf, result, patch = apply(data, "$ORIGIN")
    at = data.index(b"/usr/lib/somewhere\0")
    assert patch.strategy is Strategy.IN_PLACE
    assert result == data[:at] + b"$ORIGIN".ljust(19, b"\0") + data[at + 19 :]
    assert elf.rpath == "$ORIGIN"


def test_only_the_tag_changes() -> None:
    data = Sample(runpath="$ORIGIN").build()
    _, result, patch = apply(data, "$ORIGIN")
    changed = [at for at, (old, new) in enumerate(zip(data, result, strict=True)) if old != new]
    assert patch.strategy is Strategy.IN_PLACE
    assert [(data[at], result[at]) for at in changed] == [(c.DT_RUNPATH, c.DT_RPATH)]


def test_a_string_that_is_there_already_is_used_again() -> None:
    elf, result, patch = apply(Sample(symbols=("xyz_frees",)).build(), "frees")
    assert patch.strategy is Strategy.IN_PLACE
    assert content(elf, result, ".dynstr").count(b"frees\0") == 1
    assert elf.rpath == "frees"


@pytest.mark.parametrize(
    "sharing",
    [
        Sample(rpath="/usr/lib/somewhere", symbols=("function", "somewhere")),
        Sample(rpath="/usr/lib/somewhere", symbols=("function", "/usr/lib/somewhere")),
        Sample(rpath="/usr/lib/somewhere", versions=(("libc.so.6", ("lib/somewhere",)),)),
        Sample(rpath="/usr/lib/somewhere", versions=(("where", ("GLIBC_2.2.5",)),)),
        Sample(rpath="/usr/lib/somewhere", soname="/usr/lib/somewhere"),
        Sample(rpath="/usr/lib/somewhere", needed=("/opt/usr/lib/somewhere",)),
    ],
    ids=["tail-of-path-is-symbol", "symbol", "version", "library-of-version", "soname", "path-is-tail-of-needed"],
)
def test_strings_that_something_else_uses_are_not_overwritten(sharing: Sample) -> None:
    data = sharing.build()
    elf, result, patch = apply(data, "$ORIGIN")
    assert patch.strategy is Strategy.LAST_SEGMENT
    old = content(read_elf(io.BytesIO(data), "x"), data, ".dynstr")
    assert content(elf, result, ".dynstr") == old + b"$ORIGIN\0"
    assert (elf.rpath, elf.soname, elf.needed) == ("$ORIGIN", sharing.soname, sharing.needed)
    assert elf.versions_needed == dict(sharing.versions)
    check_tables(elf, result)


def test_a_symbol_table_of_unknown_size_proves_nothing() -> None:
    known = Sample(rpath="/usr/lib/somewhere", sections=False)
    unknown = Sample(rpath="/usr/lib/somewhere", sections=False, symbols=())
    assert apply(known.build(), "$ORIGIN")[2].strategy is Strategy.IN_PLACE
    assert apply(unknown.build(), "$ORIGIN")[2].strategy is Strategy.LAST_SEGMENT


def test_slack() -> None:
    data = Sample(slack=300).build()
    old = read_elf(io.BytesIO(data), "x")
    elf, result, patch = apply(data, LONG)
    assert (patch.strategy, len(result)) == (Strategy.SLACK, len(data))
    strings = section(elf, ".dynstr")
    assert strings.addr == old.loads[0].memory_end
    assert elf.loads[0].memory_end == elf.loads[0].vaddr + elf.loads[0].filesz == strings.addr + strings.size
    assert elf.rpath == LONG
    check_tables(elf, result)


def test_slack_with_other_bytes_in_it_is_not_used() -> None:
    data = bytearray(Sample(slack=300).build())
    data[read_elf(io.BytesIO(bytes(data)), "x").loads[0].file_end + 100] = 1
    assert apply(bytes(data), LONG)[2].strategy is Strategy.LAST_SEGMENT


@pytest.mark.parametrize("zeros", [0, 1, 64, FEW_ZEROS])
@pytest.mark.parametrize("spare", [0, 1])
@pytest.mark.parametrize("sections", [True, False])
def test_last_segment(zeros: int, spare: int, sections: bool) -> None:
    data = Sample(zeros=zeros, spare=spare, sections=sections).build()
    old = read_elf(io.BytesIO(data), "x")
    elf, result, patch = apply(data, LONG)
    assert patch.strategy is Strategy.LAST_SEGMENT
    assert elf.rpath == LONG
    assert [(p.type, p.offset, p.vaddr) for p in elf.program_headers if p.type not in (c.PT_DYNAMIC, c.PT_LOAD)] == [
        (p.type, p.offset, p.vaddr) for p in old.program_headers if p.type not in (c.PT_DYNAMIC, c.PT_LOAD)
    ]
    last, before = last_load(elf), last_load(old)
    assert (last.offset, last.vaddr, last.filesz) == (before.offset, before.vaddr, last.memsz)
    assert not any(result[before.file_end : before.file_end + zeros])
    assert (elf.dynamic_value(c.DT_STRTAB) or 0) >= before.memory_end
    moved = elf.program_header(c.PT_DYNAMIC) != old.program_header(c.PT_DYNAMIC)
    assert moved == (spare == 0)
    assert patch.notes == (
        ("the dynamic section moved out of PT_GNU_RELRO: it stays writable after relocation",) if moved else ()
    )
    if sections:
        check_tables(elf, result)
        assert section(elf, ".bss") == section(elf, ".bss")
        assert elf.shoff - old.shoff == patch.size - patch.source_size


@pytest.mark.parametrize("interpreter", [None, "/lib64/ld-linux-x86-64.so.2"])
@pytest.mark.parametrize("spare", [0, 1])
@pytest.mark.parametrize("zeros", [FEW_ZEROS + 1, MOST_ZEROS, MOST_ZEROS + 1])
def test_new_segment(interpreter: str | None, spare: int, zeros: int) -> None:
    data = Sample(zeros=zeros, interpreter=interpreter, spare=spare).build()
    old = read_elf(io.BytesIO(data), "x")
    elf, result, patch = apply(data, LONG)
    assert patch.strategy is Strategy.NEW_SEGMENT
    assert patch.size - patch.source_size < 1200  # the tables: zeroed memory costs no bytes of the file
    assert elf.rpath == LONG
    assert len(elf.program_headers) == len(old.program_headers) + 1
    new = last_load(elf)
    assert (new.offset - new.vaddr) % 0x1000 == 0
    assert new.vaddr >= last_load(old).memory_end
    assert bool(new.flags & c.PF_W) == (spare == 0)
    assert elf.phoff == old.phoff
    headers = elf.program_header(c.PT_PHDR)
    assert headers is not None
    assert headers.filesz == 56 * len(elf.program_headers)
    assert elf.interpreter == interpreter
    assert elf.build_id == old.build_id
    assert elf.shoff == old.shoff
    check_tables(elf, result)


def test_new_segment_with_moved_program_headers() -> None:
    data = Sample(zeros=FEW_ZEROS + 1, sections=False).build()
    elf, _, patch = apply(data, LONG)
    assert patch.strategy is Strategy.NEW_SEGMENT
    headers, new = elf.program_header(c.PT_PHDR), last_load(elf)
    assert headers is not None
    assert headers.offset == elf.phoff
    assert new.offset <= elf.phoff < new.file_end
    assert headers.vaddr == new.vaddr + elf.phoff - new.offset
    assert elf.rpath == LONG


def test_a_program_whose_headers_cannot_grow_gets_zeros() -> None:
    elf, _, patch = apply(Sample(zeros=FEW_ZEROS + 1, sections=False, interpreter="/lib64/ld.so").build(), LONG)
    assert (patch.strategy, elf.rpath) == (Strategy.LAST_SEGMENT, LONG)
    assert patch.notes == (f"{FEW_ZEROS + 1} bytes of zero-initialised memory became zeros in the file",)


def test_a_program_whose_headers_cannot_grow_is_refused() -> None:
    data = Sample(zeros=MOST_ZEROS + 1, sections=False, interpreter="/lib64/ld.so").build()
    with pytest.raises(ElfError, match=r"no place for a larger string table .* what follows them is not known"):
        apply(data, LONG)


def test_memory_without_bytes_behind_the_end_of_the_file_does_not_grow() -> None:
    data = bytearray(Sample(sections=False).build())
    stack = read_elf(io.BytesIO(bytes(data)), "x").program_header(c.PT_GNU_STACK)
    assert stack
    fields = (c.PT_LOAD, c.PF_R | c.PF_W, 0x9000, 0x9000, 0x9000, 0, 0x100, 0x1000)
    data[stack.position : stack.position + 56] = struct.pack("<IIQQQQQQ", *fields)
    elf, result, patch = apply(bytes(data), LONG)
    assert patch.strategy is Strategy.NEW_SEGMENT
    assert (elf.rpath, elf.loads[2].vaddr, elf.loads[2].memsz) == (LONG, 0x9000, 0x100)
    assert elf.loads[3].vaddr >= 0x9100
    assert len(result) < len(data) + 0x1000


def test_second_edit_grows_the_same_segment() -> None:
    for zeros in (100, FEW_ZEROS + 1):
        first, once, _ = apply(Sample(zeros=zeros, spare=0).build(), LONG)
        second, twice, patch = apply(once, LONG, "and/" * 50)
        assert patch.strategy is Strategy.LAST_SEGMENT
        assert len(second.loads) == len(first.loads)
        assert second.rpath == f"{LONG}:{'and/' * 50}"
        check_tables(second, twice)


def test_refusals() -> None:
    def reason(sample: Sample) -> str:
        return refusal(read_elf(io.BytesIO(sample.build()), "x")) or ""

    assert reason(Sample()) == reason(Sample(machine=c.EM_AARCH64, kind=c.ET_EXEC)) == ""
    assert "is the dynamic loader" in reason(Sample(soname="ld-linux-x86-64.so.2"))
    assert "e_machine is 224" in reason(Sample(machine=c.EM_AMDGPU))
    assert "e_type is 1" in reason(Sample(kind=c.ET_REL))
    assert "e_type is 4" in reason(Sample(kind=c.ET_CORE))
    big = struct.pack(">16sHHIIII", b"\x7fELF\1\2\1".ljust(16, b"\0"), 3, 20, 1, 0, 52, 0) + bytes(40)
    assert "32-bit big-endian" in (refusal(read_elf(io.BytesIO(big), "x")) or "")
    with pytest.raises(ElfError, match="e_machine is 224"):
        apply(Sample(machine=c.EM_AMDGPU).build(), "a")
