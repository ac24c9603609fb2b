"""Tests of zip archives, read with zipfile and with unzip where there is one."""

import hashlib
import io
import shutil
import stat
import struct
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from lib.common.archive_time import FIRST
from lib.wheel import zip_writer
from lib.wheel.deflated_run import join, small_run
from lib.wheel.output_file import Output
from lib.wheel.zip_writer import ZipArchive

MEMBERS = {
    "a.txt": (0o644, b"some text" * 50),
    "bin/tool": (0o755, b"\x7fELF" + bytes(300)),
    "empty": (0o444, b""),
    "lib/ï – 文.h": (0o600, b"non-ASCII"),
}


def write(members: dict[str, tuple[int, bytes]] = MEMBERS, seconds: int = FIRST) -> bytes:
    file = io.BytesIO()
    with Output(file) as output:
        archive = ZipArchive(output, seconds)
        for name, (mode, content) in members.items():
            archive.add(name, mode, join([small_run(content[:5]), small_run(content[5:])]))
        archive.close()
        written = file.getvalue()
        assert (output.size, output.sha256) == (len(written), hashlib.sha256(written).hexdigest())
    return written


def check(written: bytes, members: dict[str, tuple[int, bytes]]) -> list[zipfile.ZipInfo]:
    with zipfile.ZipFile(io.BytesIO(written)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == list(members)
        for info in archive.infolist():
            mode, content = members[info.filename]
            assert archive.read(info) == content
            assert info.external_attr >> 16 == stat.S_IFREG | mode
        return archive.infolist()


def test_members_come_back_with_names_modes_and_the_first_date() -> None:
    for info in check(write(), MEMBERS):
        assert info.date_time == (1980, 1, 1, 0, 0, 0)
        assert (info.create_system, info.create_version, info.extract_version) == (3, 20, 20)
        assert info.flag_bits == (0 if info.filename.isascii() else 0x800)
        assert info.extra == b""


def test_members_are_dated_as_asked() -> None:
    for info in check(write(seconds=1700000001), MEMBERS):
        assert info.date_time == (2023, 11, 14, 22, 13, 20)


def test_an_empty_archive() -> None:
    assert write({}) == b"PK\5\6" + bytes(18)


@pytest.mark.parametrize(("limit", "ends"), [(1, True), (10, True), (100, True), (200, True), (400, False)])
def test_zip64_on_small_data(monkeypatch: pytest.MonkeyPatch, limit: int, ends: bool) -> None:
    monkeypatch.setattr(zip_writer, "LIMIT_32", limit)
    written = write()
    infos = check(written, MEMBERS)
    for info in infos:
        values = (info.file_size, info.compress_size, info.header_offset)
        assert (info.extract_version == 45) == any(value >= limit for value in values)
    # The end record follows the directory's own offset and size: 273 and 230 bytes.
    assert (b"PK\6\6" in written) == ends


def test_zip64_fields_are_where_appnote_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_writer, "LIMIT_32", 100)
    content = b"x" * 150
    written = write({"small": (0o644, b"s" * 10), "a": (0o644, content)})
    start = written.index(b"PK\3\4", 4)
    version, *_, crc, length, size, name, extra = struct.unpack_from("<5H3L2H", written, start + 4)
    assert (version, length, size, name, extra) == (45, 0xFFFFFFFF, 0xFFFFFFFF, 1, 20)
    header, bytes_, real_size, real_length = struct.unpack_from("<2H2Q", written, start + 31)
    assert (header, bytes_, real_size) == (1, 16, 150)
    central = written.index(b"PK\1\2", start + 31 + 20 + real_length)
    central = written.index(b"PK\1\2", central + 4)
    assert struct.unpack_from("<2L", written, central + 16) == (crc, real_length)
    assert struct.unpack_from("<L", written, central + 24) == (0xFFFFFFFF,)
    # Only the size is too large for its field, so only that is in the extra field.
    assert written[central + 47 : central + 59] == struct.pack("<2HQ", 1, 8, 150)
    record = written.index(b"PK\6\6")
    assert struct.unpack_from("<Q", written, record + 4) == (44,)
    assert written[record + 56 : record + 60] == b"PK\6\7"
    assert struct.unpack_from("<Q", written, record + 64) == (record,)


def test_more_members_than_16_bits_count() -> None:
    members = {f"{number:05}": (0o644, b"") for number in range(65_535)}
    written = write(members)
    with zipfile.ZipFile(io.BytesIO(written)) as archive:
        assert archive.namelist() == list(members)
    assert written[-22:-10] == b"PK\5\6" + bytes(4) + b"\xff" * 4
    assert b"PK\6\6" in written


def test_announced_length_is_kept() -> None:
    data = replace(join([small_run(b"abc")]), length=4)
    with Output(io.BytesIO()) as output, pytest.raises(ValueError, match=r"a: .* bytes written where 4 were announced"):
        ZipArchive(output, FIRST).add("a", 0o644, data)


@pytest.mark.skipif(shutil.which("unzip") is None, reason="unzip is not installed")
@pytest.mark.parametrize("limit", [0xFFFFFFFF, 200])
def test_unzip_finds_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: int) -> None:
    monkeypatch.setattr(zip_writer, "LIMIT_32", limit)
    (tmp_path / "a.zip").write_bytes(write())
    result = subprocess.run(["unzip", "-t", tmp_path / "a.zip"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "No errors detected" in result.stdout
