"""Device code in libraries: sections, padding, wrappers and what relocates them, and what is said of damage."""

import io
from collections.abc import Sequence
from hashlib import sha256
from itertools import product
from struct import pack, pack_into

import pytest
from hypothesis import given
from hypothesis import strategies as st

from develop.testing.device_sample import BASE, HOST, PAGE, PREFIX, Part, Sample, bundle, compressed, relr_words
from develop.testing.elf_sample import Sample as PlainLibrary
from develop.testing.tiny_elf import program, relocatable
from lib.device.content import code_object_contents, digests
from lib.device.model import DeviceCode, DeviceError, Pointer
from lib.device.reader import read_device_code
from lib.elf import constants as c
from lib.elf.model import ElfFile, SectionHeader
from lib.elf.reader import read_elf

FIRST = bundle([(HOST, b""), (f"{PREFIX}gfx1030", b"first")])
SECOND = compressed(bundle([(HOST, b""), (f"{PREFIX}gfx1030", b"second"), (f"{PREFIX}gfx1100", b"third")]))


def read(data: bytes) -> DeviceCode:
    return read_device_code(io.BytesIO(data), "libsample.so")


def elf(data: bytes) -> ElfFile:
    return read_elf(io.BytesIO(data), "libsample.so")


def section(data: bytes, name: str) -> SectionHeader:
    return next(header for header in elf(data).section_headers if header.name == name)


def error(data: bytes) -> DeviceError:
    with pytest.raises(DeviceError) as caught:
        read(data)
    assert caught.value.path == "libsample.so"
    return caught.value


@pytest.mark.parametrize(
    ("machine", "pointer"), list(product((c.EM_X86_64, c.EM_AARCH64), Pointer)), ids=lambda value: str(value)
)
def test_library(machine: int, pointer: Pointer) -> None:
    data = Sample((Part(FIRST, pointer, padding=100), Part(SECOND, pointer)), machine).build()
    device = read(data)
    (span,) = device.spans
    assert (span.name, span.address) == (".hip_fatbin", BASE + PAGE)
    assert [bundle.offset for bundle in device.bundles] == [PAGE, 3 * PAGE]
    assert [data[one.offset : one.end] for one in device.bundles] == [FIRST, SECOND]
    assert [wrapper.pointer for wrapper in device.wrappers] == [pointer, pointer]
    assert [wrapper.bundle_address for wrapper in device.wrappers] == [BASE + PAGE, BASE + 3 * PAGE]
    assert [wrapper.bundle_offset for wrapper in device.wrappers] == [PAGE, 3 * PAGE]
    first, second = device.wrappers
    assert second.address - first.address == second.offset - first.offset == 24
    assert data[first.offset : first.offset + 8] == pack("<II", 0x48495046, 1)
    assert device.unwrapped == ()


def test_a_bundle_without_a_wrapper() -> None:
    device = read(Sample((Part(FIRST), Part(SECOND, None))).build())
    assert device.unwrapped == device.bundles[1:]


def test_several_sections_of_bundles() -> None:
    """A linker script may leave input sections apart; here the section before it is called the same."""
    whole = Sample((Part(FIRST),)).build()
    names, code, wrappers = (section(whole, name) for name in (".shstrtab", ".hip_fatbin", ".hipFatBinSegment"))
    data = bytearray(whole)
    pack_into("<I", data, wrappers.position, data.index(b".hip_fatbin\0", names.offset) - names.offset)
    pack_into("<QQ", data, wrappers.position + 24, code.offset + code.size, 0)
    device = read(bytes(data))
    assert [(span.offset, span.size) for span in device.spans] == [(code.offset, code.size), (code.file_end, 0)]
    assert (len(device.bundles), device.wrappers) == (1, ())
    pack_into("<QQ", data, wrappers.position + 24, code.offset + 1, 1)
    assert "two sections .hip_fatbin overlap" in str(error(bytes(data)))


def test_an_empty_section() -> None:
    assert (read(program(".hip_fatbin", b"")).bundles, read(program(".hip_fatbin", bytes(9))).bundles) == ((), ())
    assert read(program(".hip_fatbin", FIRST + bytes(9000))).bundles[0].size == len(FIRST)


@pytest.mark.parametrize("data", [PlainLibrary().build(), Sample().build(), relocatable(c.EM_AMDGPU)])
def test_files_without_device_code(data: bytes) -> None:
    assert read(data) == DeviceCode("libsample.so")


def test_object_files_are_refused() -> None:
    assert "an object file; expected a linked program or library" in str(error(relocatable()))


def test_damaged_elf_files_are_device_errors() -> None:
    data = Sample((Part(FIRST),)).build()
    assert "truncated or damaged" in str(error(data[:200]))
    assert "EI_CLASS is 7" in str(error(data[:4] + b"\7" + data[5:]))


def test_a_section_without_bytes() -> None:
    assert ".hip_fatbin has no bytes in the file" in str(error(program(".hip_fatbin", bytes(64), c.SHT_NOBITS)))


def split_off(pointers: Sequence[Pointer], kind: int = c.SHT_NOBITS) -> bytes:
    """Return a library with as many wrappers, of which the code is in archives: last wrapper first."""
    data = bytearray(Sample(tuple(Part(FIRST, pointer) for pointer in pointers)).build())
    wrappers = section(bytes(data), ".hipFatBinSegment")
    for number in range(len(pointers)):
        pack_into("<I", data, wrappers.offset + 24 * number, 0x4B504948)
        pack_into("<I", data, wrappers.offset + 24 * number + 16, len(pointers) - 1 - number)
    pack_into("<I", data, section(bytes(data), ".hip_fatbin").position + 4, kind)
    return bytes(data)


@pytest.mark.parametrize("pointer", list(Pointer), ids=str)
def test_a_library_whose_code_was_split_off(pointer: Pointer) -> None:
    device = read(split_off([pointer] * 3))
    assert (device.spans, device.bundles, device.wrappers) == ((), (), ())
    assert [wrapper.index for wrapper in device.split] == [2, 1, 0]
    assert [wrapper.reference_offset for wrapper in device.split] == [PAGE, 3 * PAGE, 5 * PAGE]
    first, second, _ = device.split
    assert second.address - first.address == second.offset - first.offset == 24


def test_a_small_library_keeps_its_bundles_when_they_are_split_off() -> None:
    """The splitter drops whole pages alone. HIP looks at the wrappers, and so in the archives."""
    device = read(split_off([Pointer.RELATIVE], c.SHT_PROGBITS))
    assert (len(device.spans), len(device.bundles), len(device.split)) == (1, 1, 1)
    assert device.unwrapped == device.bundles


def test_a_wrapper_of_a_bundle_that_is_gone() -> None:
    data = bytearray(Sample((Part(FIRST), Part(SECOND))).build())
    pack_into("<I", data, section(bytes(data), ".hip_fatbin").position + 4, c.SHT_NOBITS)
    assert ".hip_fatbin has no bytes in the file" in str(error(bytes(data)))
    pack_into("<I", data, section(bytes(data), ".hipFatBinSegment").offset, 0x4B504948)
    assert "points to 0x13000, where no bundle of .hip_fatbin begins" in str(error(bytes(data)))


def damaged(name: str, at: int, field: bytes) -> bytes:
    data = Sample((Part(FIRST), Part(SECOND, Pointer.SYMBOL), Part(FIRST, Pointer.IN_PLACE))).build()
    where = section(data, name).offset + at
    return data[:where] + field + data[where + len(field) :]


@pytest.mark.parametrize(
    ("name", "at", "field", "reason"),
    [
        (".hipFatBinSegment", 0, pack("<I", 0x4B504949), "a wrapper with magic 0x4b504949 and version 1; expected"),
        (".hipFatBinSegment", 4, pack("<I", 2), "a wrapper with magic 0x48495046 and version 2; expected"),
        (".hipFatBinSegment", 56, pack("<Q", 1 << 60), "points to 0x1000000000000000, which is not in the file"),
        (".hipFatBinSegment", 56, pack("<Q", BASE + PAGE + 1), "points to 0x11001, where no bundle of .hip_fatbin"),
        (".rela.dyn", 8, pack("<Q", 6), "has relocation type 6 of machine 62; expected one of [8, 1]"),
        (".rela.dyn", 24 + 12, pack("<I", 0xFFFFFF), "truncated or damaged: symbol 16777215"),
        (".dynsym", 24 + 6, pack("<H", 0), "wrapper in .hipFatBinSegment is relocated by symbol 1 of another library"),
        (".dynamic", 0, pack("<Q", 0x6FFFFFFF), "but DT_SYMTAB is missing"),
        (".dynamic", 40, pack("<Q", 23), "23 bytes of relocations at"),
        (".dynamic", 24, pack("<Q", 1 << 50), "expected entries of 24 bytes in a PT_LOAD segment"),
        (".hip_fatbin", 1, b"X", "neither an offload bundle nor padding: b'_XCLANG_'"),
    ],
)  # fmt: skip
def test_damaged_libraries(name: str, at: int, field: bytes, reason: str) -> None:
    assert reason in str(error(damaged(name, at, field)))


@pytest.mark.parametrize(
    ("at", "field", "reason"),
    [
        (32, pack("<Q", 25), ".hipFatBinSegment has 25 bytes in the file; expected wrappers of 24"),
        (4, pack("<I", c.SHT_NOBITS), "expected wrappers of 24"),
        (16, pack("<Q", BASE), ".hipFatBinSegment is not loaded from where it stands in the file"),
    ],
)
def test_damaged_section_of_wrappers(at: int, field: bytes, reason: str) -> None:
    data = Sample((Part(FIRST),)).build()
    where = section(data, ".hipFatBinSegment").position + at
    assert reason in str(error(data[:where] + field + data[where + len(field) :]))


@given(st.lists(st.sampled_from([*Pointer, None]), min_size=1, max_size=70))
def test_any_mixture_of_wrappers(pointers: list[Pointer | None]) -> None:
    small = bundle([(HOST, b"")], align=8)
    device = read(Sample(tuple(Part(small, pointer) for pointer in pointers)).build())
    assert [bundle.offset for bundle in device.bundles] == [PAGE * (at + 1) for at in range(len(pointers))]
    wrapped = [at for at, pointer in enumerate(pointers) if pointer]
    assert [wrapper.pointer for wrapper in device.wrappers] == [pointers[at] for at in wrapped]
    assert [wrapper.bundle_offset for wrapper in device.wrappers] == [PAGE * (at + 1) for at in wrapped]


def test_relr_words() -> None:
    """The example's bitmap says: the words 0, 2 and 62 behind the one at the address."""
    assert relr_words([0x1000, 0x1008, 0x1018, 0x11F8]) == [0x1000, 1 | 1 << 1 | 1 << 3 | 1 << 63]
    assert relr_words([0x1000, 0x1200, 0x1208]) == [0x1000, 0x1200, 3]


class Watched(io.BytesIO):
    """A file that counts the bytes that are read, and refuses to give many at once."""

    total = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Read a piece of the file."""
        assert size is not None
        assert 0 <= size <= 1 << 20
        self.total += size
        return super().read(size)


def test_no_more_is_read_than_is_needed() -> None:
    large = bundle([(HOST, b""), (f"{PREFIX}gfx1030", bytes(8 << 20)), (f"{PREFIX}gfx1100", b"x")])
    file = Watched(Sample((Part(large), Part(large))).build())
    device = read_device_code(file, "libsample.so")
    assert file.total < 64 << 10
    assert [code.size for code in device.code_objects()] == [8 << 20, 1] * 2
    found = {code.size: digest for code, digest in digests(file, device, device.bundles[1]).items() if code.size}
    assert found == {size: sha256(data).hexdigest() for size, data in ((8 << 20, bytes(8 << 20)), (1, b"x"))}
    for _, chunks in code_object_contents(file, device, device.bundles[0]):
        assert all(0 < len(chunk) <= 1 << 20 for chunk in chunks)
