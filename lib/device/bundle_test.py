"""Bundles, plain and compressed: what is read of them, byte for byte, and what is said of damage."""

import io
import struct
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from develop.testing.device_sample import HOST, PREFIX, bundle, compressed
from lib.device.content import code_object_contents
from lib.device.model import DeviceCode, DeviceError, parse_entry_id
from lib.device.reader import MAGIC, read_device_code

ENTRIES = [(HOST, b""), (f"{PREFIX}gfx1030", b"first" * 99), (f"{PREFIX}gfx90a:xnack+", b"second")]
TARGETS = ("gfx803", "gfx90a:xnack+", "gfx90a:xnack-", "gfx942", "gfx1030", "gfx11-generic")


def bundles(min_size: int) -> st.SearchStrategy[bytes]:
    """Bundles whose code objects have that many bytes at least."""
    codes = st.dictionaries(st.sampled_from(TARGETS), st.binary(min_size=min_size, max_size=99))
    entries = codes.map(lambda found: [(PREFIX + target, code) for target, code in found.items()])
    return st.builds(bundle, entries, st.sampled_from((1, 8, 4096)))


def read(data: bytes) -> DeviceCode:
    return read_device_code(io.BytesIO(data), "code.hipfb")


def contents(data: bytes) -> list[dict[str, bytes]]:
    """Read the code objects of each bundle, by entry ID."""
    file = io.BytesIO(data)
    device = read_device_code(file, "code.hipfb")
    return [
        {code.entry.text: b"".join(chunks) for code, chunks in code_object_contents(file, device, bundle)}
        for bundle in device.bundles
    ]


def error(data: bytes) -> DeviceError:
    with pytest.raises(DeviceError) as caught:
        contents(data)
    assert caught.value.path == "code.hipfb"
    assert 0 <= caught.value.offset <= len(data)
    return caught.value


def test_plain() -> None:
    data = bundle(ENTRIES)
    device = read(data)
    (one,) = device.bundles
    assert (one.offset, one.size, one.compression) == (0, len(data), None)
    assert [(code.entry.text, code.offset, code.size) for code in one.code_objects] == [
        (HOST, 4096, 0),
        (f"{PREFIX}gfx1030", 4096, 495),
        (f"{PREFIX}gfx90a:xnack+", 8192, 6),
    ]
    assert [str(code.entry.target) for code in device.code_objects()] == ["gfx1030", "gfx90a:xnack+"]
    assert contents(data) == [dict(ENTRIES)]


@pytest.mark.parametrize("size", [1, 4000, 8192, 1 << 18, (1 << 20) + 7])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_bundle_ends_where_its_stream_ends(version: int, size: int) -> None:
    first = compressed(bundle([(f"{PREFIX}gfx1030", bytes(range(250)) * (size // 250 + 1))], align=8), version)
    second = compressed(bundle(ENTRIES), version)
    data = first + second + bytes(3) + first
    starts = [0, len(first), len(first) + len(second) + 3]
    sizes = [len(first), len(second), len(first)]
    assert [(one.offset, one.size) for one in read(data).bundles] == list(zip(starts, sizes, strict=True))
    assert contents(data)[1] == dict(ENTRIES)


def test_code_objects_may_be_left_unread() -> None:
    file = io.BytesIO(compressed(bundle(ENTRIES)))
    device = read_device_code(file, "code.hipfb")
    for code, chunks in code_object_contents(file, device, device.bundles[0]):
        if code.entry.text == ENTRIES[2][0]:
            assert b"".join(chunks) == ENTRIES[2][1]


def test_a_table_in_another_order_than_the_code() -> None:
    table = pack("<24sQ", MAGIC, 2) + b"".join(
        pack("<QQQ", offset, 4, len(name)) + name for offset, name in ((204, b"hip-a-b-c"), (200, b"hip-a-b-d"))
    )
    assert contents(table.ljust(200, b"\0") + b"aaaabbbb") == [{"hip-a-b-d": b"aaaa", "hip-a-b-c": b"bbbb"}]


@given(st.lists(st.tuples(bundles(0), st.sampled_from((None, 1, 2, 3)), st.integers(0, 40)), min_size=1, max_size=4))
def test_any_sequence_of_bundles(parts: list[tuple[bytes, int | None, int]]) -> None:
    data, starts = b"", []
    for plain, version, padding in parts:
        starts.append(len(data))
        data += (plain if version is None else compressed(plain, version)) + bytes(padding)
    assert [one.offset for one in read(data).bundles] == starts
    assert contents(data) == [contents(plain)[0] for plain, _, _ in parts]


@given(bundles(1), st.sampled_from((None, 1, 2, 3)), st.data())
def test_every_truncation_is_an_error(plain: bytes, version: int | None, choice: st.DataObject) -> None:
    """Of a bundle that ends with a code object; of which there is enough left to know it for one."""
    data = plain if version is None else compressed(plain, version)
    size = choice.draw(st.integers(24 if version is None else 4, len(data) - 1))
    error(data[:size])


def table(count: int = 1, offset: int = 100, size: int = 10, length: int = 9, name: bytes = b"hip-a-b-c") -> bytes:
    return (pack("<24sQQQQ", MAGIC, count, offset, size, length) + name).ljust(110, b"\0")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (table(count=10**9), "an offload bundle of 1000000000 entries; no more than 1024"),
        (table(count=2), "entry 1 of 2 has an ID of 0 bytes"),
        (table(offset=64), "the code object hip-a-b-c at 0x40 overlaps the table"),
        (table(offset=101), "hip-a-b-c takes 10 bytes from 0x65 on, the bundle has 110 at most"),
        (table(offset=(1 << 64) - 1), "the bundle has 110 at most"),
        (table(size=(1 << 64) - 1), "the bundle has 110 at most"),
        (table(length=0), "entry 0 of 1 has an ID of 0 bytes; expected 1 to 1024"),
        (table(length=1 << 40), "has an ID of 1099511627776 bytes"),
        (table(length=60, name=b"x" * 54), "the bundle ends inside entry 0 of 1"),
        (table(name=b"\xff-a-b-cc"), r"'\udcff-a-b-cc\x00'"),
        (table(name=b"../../etc"), "expected KIND-TRIPLE-TARGET"),
        (bundle([("hip-a-b-c", b"x"), ("hip-a-b-c", b"y")]), "the entry ID hip-a-b-c is there twice"),
        (bundle(ENTRIES) + b"junk", "neither an offload bundle nor padding: b'junk'"),
        (compressed(bundle(ENTRIES)) + b"\1", "neither an offload bundle nor padding"),
    ],
)  # fmt: skip
def test_damaged_tables(data: bytes, reason: str) -> None:
    assert reason in str(error(data))


def test_overlapping_code_objects() -> None:
    data = bytearray(bundle([("hip-a-b-c", b"x" * 20), ("hip-a-b-d", b"y" * 20)], align=8))
    second = data.index(b"hip-a-b-d") - 24
    struct.pack_into("<Q", data, second, struct.unpack_from("<Q", data, second)[0] - 8)
    assert "the code object hip-a-b-d at 0x78 overlaps hip-a-b-c" in str(error(bytes(data)))


def patched(data: bytes, at: int, layout: str, value: int) -> bytes:
    size = struct.calcsize(layout)
    return data[:at] + pack(layout, value) + data[at + size :]


V2 = compressed(bundle(ENTRIES), 2)
V3 = compressed(bundle(ENTRIES), 3)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (V2[:6], "the header of a compressed bundle reaches beyond 0x6"),
        (V2[:20], "the header of a compressed bundle reaches beyond 0x14"),
        (patched(V2, 4, "<H", 4), "at file offset 0x4: a compressed bundle of version 4; known are 1, 2 and 3"),
        (patched(V2, 6, "<H", 2), "offset 0x6: a bundle compressed by method 2; known are 0 (zlib) and 1 (zstd)"),
        (patched(V2, 8, "<I", len(V2) + 1), f"a compressed bundle of {len(V2) + 1} bytes; expected more than 24"),
        (patched(V2, 8, "<I", 24), "a compressed bundle of 24 bytes; expected more than 24"),
        (patched(V2[:-1], 8, "<I", len(V2) - 1), "the compressed stream does not end inside its bundle"),
        (patched(V2 + b"\1", 8, "<I", len(V2) + 1), "1 bytes behind the end of the compressed stream"),
        (patched(V2, 12, "<I", 8197), "takes 6 bytes from 0x2000 on, the bundle has 8197 at most"),
        (patched(V2, 12, "<I", 8199), "inflates to 8198 bytes, not to the 8199 it says"),
        (patched(V3, 16, "<Q", 1 << 50), f"0x8: {len(V3) - 32} compressed bytes that inflate to {1 << 50}: more"),
        (patched(V2, 16, "<Q", 0), "not 0000000000000000"),
        (patched(V2, 24, "<H", 0), "device code cannot be inflated with zlib"),
        (compressed(b"no bundle, but long enough for one"), "the inflated bytes are no offload bundle"),
        (compressed(bundle(ENTRIES)[:30]), "the bundle ends inside its header"),
    ],
)  # fmt: skip
def test_damaged_compression(data: bytes, reason: str) -> None:
    assert reason in str(error(data))


def test_a_bundle_that_inflates_to_more_than_it_says_is_found_out_early() -> None:
    bomb = compressed(bundle(ENTRIES) + bytes(20 << 20), 2, inflated_size=1 << 20)
    found = error(bomb)
    assert "the bundle inflates to more than the 1048576 bytes it says" in str(found)
    assert found.offset < len(bomb) // 4


@pytest.mark.parametrize("data", [b"", b"CCO", b"#!/bin/sh\n", b"\x7fEL", bytes(100)])
def test_other_files_have_no_device_code(data: bytes) -> None:
    assert read(data) == DeviceCode("code.hipfb")


@pytest.mark.parametrize(
    ("text", "kind", "triple", "target"),
    [
        ("hipv4-amdgcn-amd-amdhsa--gfx1030", "hipv4", "amdgcn-amd-amdhsa", "gfx1030"),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-:sramecc+", "hipv4", "amdgcn-amd-amdhsa", "gfx90a:sramecc+:xnack-"),
        ("hipv4-amdgcn-amd-amdhsa-unknown-gfx942", "hipv4", "amdgcn-amd-amdhsa-unknown", "gfx942"),
        ("hipv4-amdgcn-amd-amdhsa--gfx10-3-generic", "hipv4", "amdgcn-amd-amdhsa", "gfx10-3-generic"),
        ("hip-amdgcn-amd-amdhsa-gfx9-4-generic", "hip", "amdgcn-amd-amdhsa", "gfx9-4-generic"),
        ("hip-spirv64-amd-amdhsa--amdgcnspirv", "hip", "spirv64-amd-amdhsa", "amdgcnspirv"),
        ("hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", "hip", "spirv64-amd-amdhsa-unknown", "amdgcnspirv"),
        ("hipv4-amdgpu11-amd-amdhsa--gfx1100", "hipv4", "amdgpu11-amd-amdhsa", "gfx1100"),
        ("openmp-nvptx64-nvidia-cuda-sm_70", "openmp", "nvptx64-nvidia-cuda", None),
        ("openmp-amdgcn-amd-amdhsa", "openmp", "amdgcn-amd-amdhsa", None),
        ("host-x86_64-unknown-linux", "host", "x86_64-unknown-linux", None),
        ("host-x86_64-unknown-linux--", "host", "x86_64-unknown-linux", None),
        ("host-x86_64-unknown-linux-gnu-", "host", "x86_64-unknown-linux-gnu", None),
        # What clang-offload-bundler 18 and 19 make of an ID with an environment.
        ("host-x86_64-unknown-linux-gnu-host-x86_64-unknown-linux-gnu-", "host", "x86_64-unknown-linux-gnu", None),
    ],
)
def test_what_compilers_write(text: str, kind: str, triple: str, target: str | None) -> None:
    entry = parse_entry_id(text)
    assert (entry.text, entry.kind, entry.triple) == (text, kind, triple)
    assert (str(entry.target) if entry.target else None) == target
    assert entry.is_host == (kind == "host")


@pytest.mark.parametrize(
    "text",
    ["", "host", "hip-amdgcn", "hip-amdgcn-amd", "-amdgcn-amd-amdhsa--gfx1030", "hip-a-b-../../c", "hip-a-b-c\0"],
)
def test_what_is_no_entry_id(text: str) -> None:
    with pytest.raises(ValueError, match="expected KIND-TRIPLE-TARGET"):
        parse_entry_id(text)


def test_a_target_that_is_none() -> None:
    with pytest.raises(ValueError, match="target ID 'gfx90a:xnack'"):
        parse_entry_id("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack")


@given(st.text(max_size=60) | st.from_regex(r"[a-z0-9-]{1,9}(-[a-z0-9:+-]{0,12}){0,5}", fullmatch=True))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        entry = parse_entry_id(text)
    except ValueError:
        return
    assert entry.text == text
    assert text.startswith(f"{entry.kind}-{entry.triple}")
    assert "/" not in text
