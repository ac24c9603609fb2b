"""Archives are read as zipfile reads them, and everything that zipfile passes over is reported."""

import io
import random
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from develop.testing.wheel_sample import zipped
from lib.wheel.zip_members import Archive, Fault, Trouble
from lib.wheel.zip_reader import read_archive

FILES = {"a.txt": b"text " * 50, "b/c.bin": bytes(range(256)), "b/empty": b""}


def read(data: bytes) -> Archive:
    return read_archive(io.BytesIO(data))


def faults(data: bytes) -> list[tuple[Fault, str]]:
    return [(trouble.fault, trouble.member) for trouble in read(data).troubles]


@settings(deadline=None)
@given(st.dictionaries(st.text("abc/é", min_size=1, max_size=8), st.binary(max_size=300), max_size=5), st.booleans())
def test_what_zipfile_writes_is_sound_and_read_the_same(files: dict[str, bytes], deflate: bool) -> None:
    data = zipped({name: b"" if name.endswith("/") else content for name, content in files.items()}, deflate=deflate)
    archive = read(data)
    assert archive.troubles == ()
    with zipfile.ZipFile(io.BytesIO(data)) as other:
        expected = [(one.filename, one.CRC, one.compress_size, one.file_size) for one in other.infolist()]
    assert [(one.name, one.crc32, one.compressed, one.size) for one in archive.members] == expected


class Unseekable(io.BytesIO):
    """zipfile writes data descriptors where it cannot go back."""

    def seekable(self) -> bool:
        """Say no."""
        return False

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Refuse."""
        raise io.UnsupportedOperation


def test_data_descriptors_are_no_stray_bytes() -> None:
    output = Unseekable()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    found = read(output.getvalue())
    assert found.troubles == (Trouble(Fault.UNUSUAL, "a.txt", "3 members have data descriptors"),)
    assert all(member.flags & 8 and member.readable for member in found.members)


def test_zip64_fields_are_read() -> None:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive, archive.open("big", "w", force_zip64=True) as file:
        file.write(b"x" * 1000)
    found = read(output.getvalue())
    assert found.troubles == ()
    assert found.members[0].size == 1000


def test_zip64_end_records_are_read() -> None:
    """65,536 members do not fit into 16 bits."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for number in range(1 << 16):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")
    found = read(output.getvalue())
    assert found.troubles == ()
    assert len(found.members) == 1 << 16


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip archive" * 100, zipped(FILES)[:-30]])
def test_what_is_no_archive_is_said_to_be_unreadable(data: bytes) -> None:
    found = read(data)
    assert [trouble.fault for trouble in found.troubles] == [Fault.UNREADABLE]
    assert found.members == ()


def test_bytes_of_nobody_are_reported_wherever_they_are() -> None:
    data = zipped(FILES)
    second = read(data).members[1].header
    assert faults(b"#!/bin/sh\n" + data) == [(Fault.STRAY, ""), (Fault.STRAY, "")]  # the offsets, and the bytes
    assert faults(data + b"behind") == [(Fault.STRAY, "")]
    end = data.rindex(b"PK\5\6")
    directory = int.from_bytes(data[end + 16 : end + 20], "little")
    assert (Fault.STRAY, "") in faults(data[:directory] + b"between" + data[directory:])
    assert (Fault.STRAY, "") in faults(with_moved(data, second, b"between"))


def with_moved(data: bytes, at: int, extra: bytes) -> bytes:
    """Put bytes in front of the member at `at`, and correct all offsets behind."""
    end = data.rindex(b"PK\5\6")
    result = bytearray(data[:at] + extra + data[at:])
    for member in read(data).members:
        place = result.rindex(b"PK\1\2", 0, result.rindex(member.name.encode()))
        if member.header >= at:
            result[place + 42 : place + 46] = (member.header + len(extra)).to_bytes(4, "little")
    end += len(extra)
    offset = int.from_bytes(result[end + 16 : end + 20], "little")
    result[end + 16 : end + 20] = (offset + len(extra)).to_bytes(4, "little")
    return bytes(result)


def test_members_over_each_other_are_reported_and_not_read() -> None:
    """As in an archive that inflates to petabytes: many entries of the directory, one run of bytes."""
    data = bytearray(zipped({"a": b"x" * 99, "b": b"x" * 99}))
    at = data.rindex(b"PK\1\2")
    data[at + 42 : at + 46] = bytes(4)  # "b" lies where "a" does
    found = read(bytes(data))
    assert (Fault.OVERLAP, "b") in [(one.fault, one.member) for one in found.troubles]
    assert not any(member.readable for member in found.members)


@pytest.mark.parametrize(("offset", "what"), [(6, "flags"), (8, "method"), (14, "CRC-32"), (18, "size"), (22, "size")])
def test_a_local_header_that_differs_is_reported(offset: int, what: str) -> None:
    data = bytearray(zipped(FILES))
    data[offset] ^= 2
    (trouble,) = [one for one in read(bytes(data)).troubles if one.fault is Fault.MISMATCH]
    assert trouble.member == "a.txt"
    assert what in trouble.evidence


def test_encrypted_and_other_compression_are_reported() -> None:
    data = bytearray(zipped({"a": b"x"}))
    at = data.rindex(b"PK\1\2")
    data[6] |= 1
    data[at + 8] |= 1
    assert faults(bytes(data)) == [(Fault.METHOD, "a")]
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", b"x")
    assert (Fault.METHOD, "a") in faults(output.getvalue())


def test_damage_anywhere_is_never_an_exception() -> None:
    data = zipped(FILES)
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] = random.Random(at).randrange(256)
        read(bytes(damaged))
        read(data[:at])
