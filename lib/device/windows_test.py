"""Device code in DLLs: sections, wrappers whose pointers stand in place, and what is said of damage."""

import io

import pytest

from develop.testing.device_sample import HOST, PREFIX, bundle, compressed
from develop.testing.device_windows import PAGE, windows_library
from develop.testing.pe_sample import Sample
from lib.device.content import code_object_contents
from lib.device.model import DeviceCode, DeviceError, Pointer
from lib.device.reader import read_device_code
from lib.pe import constants as c
from lib.pe.reader import read_pe

FIRST = bundle([(HOST, b""), (f"{PREFIX}gfx1030", b"first")])
SECOND = compressed(bundle([(HOST, b""), (f"{PREFIX}gfx1030", b"second"), (f"{PREFIX}gfx1100", b"third")]))
BASE = 1 << 32


def read(data: bytes) -> DeviceCode:
    return read_device_code(io.BytesIO(data), "sample.dll")


def test_a_dll() -> None:
    data = windows_library((FIRST, SECOND))
    section = read_pe(io.BytesIO(data), "sample.dll").sections[-1]
    device = read(data)
    (span,) = device.spans
    assert (span.name, span.offset, span.address) == (".hip_fat", section.begin, BASE + section.virtual_address)
    assert [data[one.offset : one.end] for one in device.bundles] == [FIRST, SECOND]
    assert [wrapper.pointer for wrapper in device.wrappers] == [Pointer.IN_PLACE] * 2
    second = -(-len(FIRST) // PAGE) * PAGE
    assert [wrapper.bundle_address for wrapper in device.wrappers] == [span.address, span.address + second]
    assert [wrapper.bundle_offset for wrapper in device.wrappers] == [span.offset, span.offset + second]
    assert device.wrappers[1].address - device.wrappers[0].address == 24
    with io.BytesIO(data) as file:
        found = [
            (code.entry.target and str(code.entry.target), b"".join(chunks))
            for one in device.bundles
            for code, chunks in code_object_contents(file, device, one)
        ]
    assert [one for one in found if one[0]] == [("gfx1030", b"first"), ("gfx1030", b"second"), ("gfx1100", b"third")]


@pytest.mark.parametrize("magic", [c.PE32, c.PE32_PLUS])
def test_names_of_sections_that_are_whole(magic: int) -> None:
    """With a COFF string table, as MinGW's linker writes one, names need not be cut."""
    data = Sample(magic=magic, sections=((".hip_fatbin", FIRST), (".other", b"x"))).build()
    device = read(data)
    assert [data[one.offset : one.end] for one in device.bundles] == [FIRST]
    assert device.unwrapped == device.bundles


def test_a_dll_without_device_code() -> None:
    assert read(Sample().build()) == DeviceCode("sample.dll")


def damaged(data: bytes, address: int, value: int) -> str:
    """Replace eight bytes of the wrapper, and return the error."""
    changed = bytearray(data)
    wrapper = read(data).wrappers[0].offset
    changed[wrapper + address : wrapper + address + 8] = value.to_bytes(8, "little")
    with pytest.raises(DeviceError) as caught:
        read(bytes(changed))
    assert caught.value.path == "sample.dll"
    assert wrapper <= caught.value.offset <= wrapper + address
    return caught.value.reason


def test_wrappers_that_are_wrong() -> None:
    data = windows_library((FIRST,))
    inside = BASE + read_pe(io.BytesIO(data), "sample.dll").sections[-1].virtual_address
    assert damaged(data, 8, 8) == "a wrapper points to 0x8, which is not in the file"
    assert damaged(data, 8, inside + 16).endswith("where no bundle of .hip_fatbin begins")
    assert damaged(data, 0, 7).startswith("a wrapper with magic 0x7 and version 0; expected")


def test_wrappers_that_are_cut_off() -> None:
    data = Sample(sections=((".hipFatB", b"x" * 25),)).build()
    with pytest.raises(DeviceError, match=r"\.hipFatB has 25 bytes in the file; expected wrappers of 24"):
        read(data)
