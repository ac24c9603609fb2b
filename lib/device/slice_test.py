"""Slices of small libraries and bundle files: what is kept, where it is, and what is said where that cannot be."""

import io
from collections.abc import Sequence
from struct import pack, pack_into

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from develop.testing.device_sample import BASE, HOST, PAGE, PREFIX, First, Part, Sample, bundle, compressed
from develop.testing.elf_sample import Sample as PlainLibrary
from develop.testing.slice_check import differences
from lib.device.model import DeviceError, Method, Pointer
from lib.device.reader import read_device_code
from lib.device.slice import DEFAULT_LEVEL, plan_slice
from lib.elf import constants as c
from lib.elf.patch import Patch, Strategy
from lib.elf.patched import open_patched
from lib.elf.reader import read_elf
from lib.gpus.target_id import parse_target_id

TARGETS = ("gfx906", "gfx90a:xnack+", "gfx90a:xnack-", "gfx1030", "gfx1100")
ENTRIES = [(HOST, b""), *((PREFIX + target, target.encode() * 600) for target in TARGETS)]
FIRST = bundle(ENTRIES)
#: The zstd level that compresses least: a bundle grows although it loses code.
WORST = -(1 << 17)
SECOND = bundle([*ENTRIES, (f"{PREFIX}gfx1011", b"eleventh" * 700)])


def plan(data: bytes, *targets: str, absent: Sequence[str] = (), level: int = DEFAULT_LEVEL) -> Patch:
    wanted, missing = (list(map(parse_target_id, some)) for some in (targets, absent))
    return plan_slice(io.BytesIO(data), "libsample.so", wanted, missing, level)


def sliced(data: bytes, *targets: str, absent: Sequence[str] = (), level: int = DEFAULT_LEVEL) -> bytes:
    """Slice a file, and compare it with the original by all that `slice_check` looks at."""
    patch = plan(data, *targets, absent=absent, level=level)
    new = b"".join(map(bytes, patch.chunks(io.BytesIO(data))))
    assert len(new) == patch.size
    assert open_patched(patch, io.BytesIO(data)).read() == new
    assert list(differences(io.BytesIO(data), io.BytesIO(new), list(map(parse_target_id, targets)))) == []
    return new


def ids(data: bytes) -> list[list[str]]:
    device = read_device_code(io.BytesIO(data), "libsample.so")
    return [[code.entry.text.removeprefix(PREFIX) for code in one.code_objects] for one in device.bundles]


def error(data: bytes, *targets: str, level: int = DEFAULT_LEVEL) -> str:
    with pytest.raises(DeviceError) as caught:
        plan(data, *targets, level=level)
    assert 0 <= caught.value.offset <= len(data)
    return str(caught.value)


@pytest.mark.parametrize("machine", [c.EM_X86_64, c.EM_AARCH64])
@pytest.mark.parametrize("pointer", list(Pointer), ids=lambda pointer: pointer.name)
def test_a_library(machine: int, pointer: Pointer) -> None:
    data = Sample((Part(FIRST, pointer), Part(SECOND, pointer, 5000), Part(SECOND, pointer)), machine).build()
    new = sliced(data, "gfx1030")
    assert ids(new) == [[HOST, "gfx1030"]] * 3
    device = read_device_code(io.BytesIO(new), "libsample.so")
    assert [one.offset for one in device.bundles] == [PAGE, 4 * PAGE, 7 * PAGE]
    assert [one.bundle_address - BASE for one in device.wrappers] == [PAGE, 4 * PAGE, 7 * PAGE]
    assert (device.spans[0].offset, device.spans[0].size) == (PAGE, device.bundles[-1].end - PAGE)
    assert len(new) < len(data) - 20 * PAGE


@pytest.mark.parametrize(
    ("align", "expected"), [(1, 1), (256, 256), (PAGE, PAGE), (1 << 14, 1 << 14), (1 << 20, 1 << 16)]
)
def test_alignment_is_kept_within_reason(align: int, expected: int) -> None:
    data = compressed(bundle([(HOST, b""), *((PREFIX + target, b"x" * 77) for target in TARGETS)], align))
    (one,) = read_device_code(io.BytesIO(sliced(data, "gfx906", "gfx1100")), "").bundles
    assert [code.offset % expected for code in one.code_objects] == [0, 0, 0]
    assert one.size < 200 + 3 * expected + 2 * 77


def test_nothing_to_do() -> None:
    data = Sample((Part(FIRST), Part(compressed(FIRST)))).build()
    assert plan(data, *TARGETS).is_identity
    assert plan(data, "gfx906", "gfx90a", "gfx1030", "gfx1100").is_identity
    assert plan(PlainLibrary().build(), "gfx1030").is_identity
    assert plan(b"not even a library", "gfx1030").is_identity
    assert plan(Sample().build(), "gfx1030").strategy is Strategy.IDENTITY


def test_slices_of_slices() -> None:
    data = Sample((Part(FIRST), Part(SECOND))).build()
    assert plan(sliced(data, "gfx1030"), "gfx1030").is_identity
    again = sliced(sliced(data, "gfx1030", "gfx1100"), "gfx1030")
    assert ids(again) == ids(sliced(data, "gfx1030"))
    assert (
        read_device_code(io.BytesIO(again), "").bundles
        == read_device_code(io.BytesIO(sliced(data, "gfx1030")), "").bundles
    )


def test_a_target_without_code() -> None:
    data = Sample((Part(FIRST), Part(SECOND))).build()
    message = error(data, "gfx1030", "gfx1200")
    assert "no code that gfx1200 can load; there is code for gfx1011, gfx1030, gfx1100, gfx906," in message
    assert "Leave gfx1200 out, or declare it absent" in message
    assert ids(sliced(data, "gfx1200", absent=["gfx1200"])) == [[HOST]] * 2
    assert ids(sliced(data, "gfx1011")) == [[HOST], [HOST, "gfx1011"]]


@pytest.mark.parametrize("method", [None, Method.ZSTD])
def test_what_remains_without_code_ends_behind_its_entries(method: Method | None) -> None:
    """LLVM takes a bundle with an entry behind its end for one without entries, though the entry be empty."""
    data = compressed(FIRST, version=3, method=method) if method else FIRST
    new = sliced(data, "gfx1200", absent=["gfx1200"])
    (found,) = read_device_code(io.BytesIO(new), "sample.co").bundles
    (host,) = found.code_objects
    assert host.offset <= (found.compression.inflated_size if found.compression else len(new))


def test_declarations_that_are_not_true() -> None:
    data = Sample((Part(FIRST), Part(SECOND))).build()
    with pytest.raises(DeviceError) as caught:
        plan(data, "gfx1030", absent=["gfx1011", "gfx1100", "gfx1200"])
    assert "there is code that gfx1011, gfx1100 can load, declared absent" in str(caught.value)
    assert "Take gfx1011, gfx1100 out of the declaration" in str(caught.value)
    assert plan(b"not even a library", "gfx1030", absent=["gfx1011"]).is_identity


def test_compressed_bundles() -> None:
    data = Sample((Part(compressed(FIRST, 1)), Part(compressed(SECOND, 3), Pointer.RELR), Part(FIRST))).build()
    new = sliced(data, "gfx1030")
    device = read_device_code(io.BytesIO(new), "libsample.so")
    kept = [one.compression for one in device.bundles]
    assert [one and (one.version, one.method) for one in kept] == [(1, Method.ZSTD), (3, Method.ZSTD), None]
    every = sliced(data, *TARGETS)
    device = read_device_code(io.BytesIO(every), "libsample.so")
    assert [one.compression and one.compression.method for one in device.bundles] == [Method.ZLIB, Method.ZSTD, None]


def test_a_section_that_grows() -> None:
    """What is left, compressed worse, can take more than all did: it cannot stay in front of what has its address."""
    data = Sample(tuple(Part(compressed(SECOND), pointer) for pointer in (*Pointer, None))).build()
    new = sliced(data, *TARGETS, level=WORST)
    before, after = (read_elf(io.BytesIO(one), "libsample.so") for one in (data, new))
    assert [load.flags for load in after.loads] == [load.flags for load in before.loads] * 3
    (span,) = read_device_code(io.BytesIO(new), "libsample.so").spans
    assert span.address == after.loads[-1].vaddr > before.loads[-1].memory_end
    assert len(new) > len(data)
    assert sliced(new, "gfx1030")


@pytest.mark.parametrize("part", [Part(FIRST), Part(compressed(FIRST))], ids=["shrinks", "grows"])
def test_what_follows_the_program_headers_makes_room(part: Part) -> None:
    data = Sample((part, Part(SECOND)), first=First.BUILD_ID).build()
    patch = plan(data, "gfx1030", "gfx1100", "gfx906")
    assert patch.notes == ("the build ID moved out of the first page: core dumps may lack it",)
    new = read_elf(io.BytesIO(sliced(data, "gfx1030", "gfx1100", "gfx906")), "")
    assert (new.phoff, new.build_id) == (64, bytes(range(20)).hex())
    note, header = new.section_headers[1], new.program_header(c.PT_NOTE)
    assert header is not None
    assert (note.addr, note.offset, note.size) == (header.vaddr, header.offset, header.filesz)


def test_program_headers_that_move() -> None:
    data = Sample((Part(FIRST),), first=First.DATA).build()
    new = read_elf(io.BytesIO(sliced(data, "gfx1030")), "")
    assert len(new.program_headers) == 3
    assert new.phoff > new.section_headers[2].offset + new.section_headers[2].size
    assert new.offset_of(BASE + new.phoff, 3 * 56) == new.phoff
    program = Sample((Part(FIRST, Pointer.IN_PLACE),), kind=c.ET_EXEC, first=First.DATA).build()
    assert "the program headers cannot grow" in error(program, "gfx1030")


def test_a_damaged_compressed_bundle() -> None:
    good = compressed(SECOND, 2)
    assert "the inflated bundle has the digest" in error(good[:16] + bytes(8) + good[24:], "gfx1030")


def test_code_for_nobody_known() -> None:
    data = bundle([(HOST, b""), (f"{PREFIX}gfx1030", b"1"), ("hip-amdgcn-amd-amdhsa", b"2")])
    assert "the entry hip-amdgcn-amd-amdhsa names no AMD GPU target" in error(data, "gfx1030")


def library_with(at: str, way: int, value: int, size: int = 8) -> bytes:
    """Make a library whose section `at` has a number of `size` bytes `way` bytes behind its beginning."""
    data = bytearray(Sample((Part(SECOND, Pointer.SYMBOL), Part(FIRST), Part(SECOND, None))).build())
    section = next(s for s in read_elf(io.BytesIO(data), "").section_headers if s.name == at)
    data[section.offset + way : section.offset + way + size] = value.to_bytes(size, "little")
    return bytes(data)


def test_pointers_into_the_middle_of_a_bundle() -> None:
    data = library_with(".dynsym", 24 + 16, 12)
    assert "is pointed to, inside of .hip_fatbin, where nothing of it begins" in error(data, "gfx1030")


def test_a_symbol_with_the_size_of_its_bundle() -> None:
    new = sliced(library_with(".dynsym", 24 + 16, len(SECOND)), "gfx1030")
    section = next(s for s in read_elf(io.BytesIO(new), "").section_headers if s.name == ".dynsym")
    size = read_device_code(io.BytesIO(new), "").bundles[0].size
    assert int.from_bytes(new[section.offset + 40 :][:8], "little") == size < len(SECOND)


def test_an_address_in_the_place_that_is_relocated_follows() -> None:
    new = sliced(library_with(".hipFatBinSegment", 24 + 8, BASE + PAGE + -(-len(SECOND) // PAGE) * PAGE), "gfx1030")
    wrapper = read_device_code(io.BytesIO(new), "").wrappers[1]
    assert wrapper.pointer is Pointer.RELATIVE
    assert int.from_bytes(new[wrapper.offset + 8 :][:8], "little") == wrapper.bundle_address


@pytest.mark.parametrize("part", [Part(FIRST), Part(compressed(FIRST))], ids=["shrinks", "grows"])
def test_zeroed_memory_behind_the_section(part: Part) -> None:
    data = bytearray(Sample((part, Part(SECOND))).build())
    load = read_elf(io.BytesIO(data), "").loads[0]
    pack_into("<Q", data, load.position + 40, load.memsz + 9 * PAGE)
    new = read_elf(io.BytesIO(sliced(bytes(data), "gfx1030", "gfx906", "gfx1100", level=WORST)), "")
    assert load.memory_end + 9 * PAGE in [one.memory_end for one in new.loads]


def test_two_sections_of_device_code() -> None:
    data = bytearray(Sample((Part(FIRST),)).build())
    elf = read_elf(io.BytesIO(data), "")
    code, wrappers = (
        next(s for s in elf.section_headers if s.name == f".hip{name}") for name in ("_fatbin", "FatBinSegment")
    )
    data[wrappers.position : wrappers.position + 4] = data[code.position : code.position + 4]
    data[wrappers.offset : wrappers.offset + 24] = bytes(24)
    message = error(bytes(data), "gfx1030")
    assert "2 sections .hip_fatbin; expected one, which all others go into when a file is linked" in message
    assert "Leave the file whole, or link it again" in message


#: What stands in an entry ID for each kind of code, except the prefix, and the GPUs of `GPUS` that load it.
KINDS = {
    "gfx906": ("gfx906",),
    "gfx90a": ("gfx90a", "gfx90a:xnack+", "gfx90a:xnack-"),
    "gfx90a:xnack+": ("gfx90a", "gfx90a:xnack+"),
    "gfx90a:xnack-": ("gfx90a", "gfx90a:xnack-"),
    "gfx90a:sramecc+:xnack-": ("gfx90a", "gfx90a:xnack-"),
    "gfx1011": ("gfx1011",),
    "gfx1030": ("gfx1030",),
    "gfx1100": ("gfx1100",),
    "gfx9-generic": ("gfx900", "gfx906"),
    "gfx9-4-generic": ("gfx942",),
    "gfx10-1-generic": ("gfx1011",),
    "gfx10-3-generic": ("gfx1030",),
    "gfx11-generic": ("gfx1100", "gfx1151"),
    "gfx12-generic": ("gfx1201",),
}
GPUS = sorted({gpu for gpus in KINDS.values() for gpu in gpus})
SPIRV = "hip-spirv64-amd-amdhsa--amdgcnspirv"
Entries = list[tuple[str, bytes]]


@st.composite
def any_entries(draw: st.DrawFn) -> Entries:
    """Make the entries of a bundle: the host's somewhere among those for any GPUs."""
    names = [PREFIX + name for name in draw(st.lists(st.sampled_from(list(KINDS)), unique=True, max_size=5))]
    names += draw(st.sampled_from([[], [], [SPIRV]]))
    entries = [(name, name.encode() * draw(st.sampled_from([0, 1, 99, 1500]))) for name in names]
    entries.insert(draw(st.integers(0, len(entries))), (HOST, draw(st.sampled_from([b"", b"host"]))))
    return entries


def packed(entries: Entries, align: int, version: int, method: Method) -> bytes:
    """Make a bundle, compressed unless `version` is 0."""
    data = bundle(entries, align)
    return compressed(data, version, method) if version else data


METHODS = list(Method)
PACKINGS = st.tuples(
    any_entries(),
    st.sampled_from([1, 8, 256, PAGE, 4 * PAGE]),
    st.sampled_from([0, 0, 1, 2, 3]),
    st.sampled_from(METHODS),
)
POINTERS = st.sampled_from([*Pointer, None])


def is_loaded_by(name: str, gpus: Sequence[str]) -> bool:
    return name == SPIRV or any(gpu in KINDS.get(name.removeprefix(PREFIX), ()) for gpu in gpus)


def check_slice(data: bytes, parts: Sequence[Entries], gpus: Sequence[str]) -> bytes:
    """Slice a file that has these entries: they must be there as KINDS says, in their order."""
    absent = [gpu for gpu in gpus if not any(c and is_loaded_by(name, [gpu]) for part in parts for name, c in part)]
    without_code = not any(content and name != HOST for part in parts for name, content in part)
    new = sliced(data, *gpus, absent=[] if without_code else absent)
    kept = [[name for name, _ in part if name == HOST or is_loaded_by(name, gpus)] for part in parts]
    assert ids(new) == [[name.removeprefix(PREFIX) for name in names] for names in kept]
    return new


@settings(deadline=None, max_examples=400)
@given(
    parts=st.lists(st.tuples(PACKINGS, POINTERS, st.sampled_from([0, 1, 9000]), POINTERS), min_size=1, max_size=6),
    machine=st.sampled_from([c.EM_X86_64, c.EM_AARCH64]),
    first=st.sampled_from(First),
    gpus=st.lists(st.sampled_from(GPUS), min_size=1, max_size=3),
)
def test_any_library(
    parts: list[tuple[tuple[Entries, int, int, Method], Pointer | None, int, Pointer | None]],
    machine: int,
    first: First,
    gpus: list[str],
) -> None:
    made = [Part(packed(*packing), pointer, padding, again) for packing, pointer, padding, again in parts]
    check_slice(Sample(tuple(made), machine, first=first).build(), [packing[0] for packing, *_ in parts], gpus)


@settings(deadline=None, max_examples=100)
@given(st.lists(PACKINGS, min_size=1, max_size=4), st.sampled_from(GPUS), st.integers(0, 99))
def test_any_bundle_file(parts: list[tuple[Entries, int, int, Method]], gpu: str, padding: int) -> None:
    check_slice(bytes(padding).join(packed(*part) for part in parts), [part[0] for part in parts], [gpu])


def damaged(where: str, field: bytes, at: int) -> bytes:
    """Make a library that has other bytes in the header of a section, of a program header (`LOAD`), or of the file."""
    data = bytearray(Sample((Part(FIRST), Part(SECOND, Pointer.SYMBOL)), first=First.BUILD_ID).build())
    elf = read_elf(io.BytesIO(data), "")
    places = {section.name: section.position for section in elf.section_headers} | {"ELF": 0}
    places |= dict(zip(("LOAD", "DYNAMIC", "NOTE"), (header.position for header in elf.program_headers), strict=True))
    places |= {f"tag {entry.tag}": entry.position for entry in elf.dynamic}
    data[places[where] + at : places[where] + at + len(field)] = field
    return bytes(data)


@pytest.mark.parametrize(
    ("where", "at", "field", "reason"),
    [
        (".hip_fatbin", 8, pack("<Q", 0), ".hip_fatbin is not loaded from the file"),
        (".hip_fatbin", 16, pack("<Q", BASE), "no single PT_LOAD segment loads .hip_fatbin at its address"),
        (".hip_fatbin", 48, pack("<Q", 400), ".hip_fatbin is aligned to 400, not to a power of two"),
        (".relr.dyn", 24, pack("<QQ", PAGE - 8, 16), "what this tells of overlaps .hip_fatbin at 0x1000"),
        ("NOTE", 16, pack("<Q", BASE + PAGE), "a segment overlaps .hip_fatbin at 0x11000"),
        ("NOTE", 0, pack("<II", 1, 4), "PT_LOAD segments are not in order, or share a page"),
        ("LOAD", 40, pack("<Q", 5), "a PT_LOAD segment has more bytes in the file than in memory"),
        ("NOTE", 0, pack("<IIQQ", 1, 4, 0, 4 * BASE), "PT_LOAD segments overlap in the file: bytes 0x0 to 0x24"),
        (
            "NOTE",
            0,
            pack("<IIQQ", 1, 4, 0xE8, 4 * BASE),
            "a PT_LOAD segment's file offset and address differ within a page",
        ),
        ("NOTE", 0, pack("<I", c.PT_PHDR), "PT_PHDR tells of 0xe8, but program headers are at 0x40"),
        (".shstrtab", 4, pack("<I", c.SHT_RELA), "(--emit-relocs): they would be wrong. Link it without them, or take"),
        ("tag 35", 0, pack("<QQ", c.DT_REL, 0), "relocations without addends (DT_REL) are not known here"),
        ("tag 36", 0, pack("<QQ", 12, BASE + PAGE), "0x11000 is in .hip_fatbin, and not known to be movable"),
        ("ELF", 24, pack("<Q", BASE + PAGE), "0x11000 is in .hip_fatbin, and not known to be movable"),
        (".dynsym", 4, pack("<I", c.SHT_PROGBITS), "no section tells of the dynamic symbols (DT_SYMTAB)"),
    ],
)
def test_libraries_that_are_not_sliced(where: str, at: int, field: bytes, reason: str) -> None:
    assert reason in error(damaged(where, field, at), "gfx1030")


@pytest.mark.parametrize("where", [".hip_fatbin", "LOAD"])
@pytest.mark.parametrize("part", [Part(FIRST), Part(compressed(FIRST))], ids=["shrinks", "grows"])
def test_alignments_that_would_be_paid_with_zeros(where: str, part: Part) -> None:
    data = bytearray(Sample((part,)).build())
    elf = read_elf(io.BytesIO(data), "")
    section = next(section for section in elf.section_headers if section.name == ".hip_fatbin")
    pack_into("<Q", data, (elf.loads[0] if where == "LOAD" else section).position + 48, 1 << 25)
    assert f"{where} is aligned to 0x2000000 bytes; expected 0x1000000 at most" in error(
        bytes(data), "gfx1030", "gfx906", level=WORST
    )


def test_libraries_for_other_machines() -> None:
    data = Sample((Part(FIRST, None),), machine=8).build()
    assert "only 64-bit little-endian files for x86_64 and aarch64 are edited" in error(data, "gfx1030")
