"""Tests of the wheel's layout, of RECORD, and of the archive, which zipfile and unzip read where there is one."""

import base64
import csv
import hashlib
import io
import shutil
import stat
import struct
import subprocess
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.common.program import FIRST_TIME, LAST_TIME, ToolError
from lib.wheel import wheel_writer
from lib.wheel.deflated_run import join, small_run
from lib.wheel.output_file import Output
from lib.wheel.wheel_writer import ZipArchive, dos_time, joined_member, text_member, write_wheel

MEMBERS = {
    "a.txt": (0o644, b"some text" * 50),
    "bin/tool": (0o755, b"\x7fELF" + bytes(300)),
    "empty": (0o444, b""),
    "lib/ï – 文.h": (0o600, b"non-ASCII"),
}


def write(members: dict[str, tuple[int, bytes]] = MEMBERS, seconds: int = FIRST_TIME) -> bytes:
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
    monkeypatch.setattr(wheel_writer, "LIMIT_32", limit)
    written = write()
    infos = check(written, MEMBERS)
    for info in infos:
        values = (info.file_size, info.compress_size, info.header_offset)
        assert (info.extract_version == 45) == any(value >= limit for value in values)
    # The end record follows the directory's own offset and size: 273 and 230 bytes.
    assert (b"PK\6\6" in written) == ends


def test_zip64_fields_are_where_appnote_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_writer, "LIMIT_32", 100)
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
        ZipArchive(output, FIRST_TIME).add("a", 0o644, data)


@pytest.mark.skipif(shutil.which("unzip") is None, reason="unzip is not installed")
@pytest.mark.parametrize("limit", [0xFFFFFFFF, 200])
def test_unzip_finds_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: int) -> None:
    monkeypatch.setattr(wheel_writer, "LIMIT_32", limit)
    (tmp_path / "a.zip").write_bytes(write())
    result = subprocess.run(["unzip", "-t", tmp_path / "a.zip"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "No errors detected" in result.stdout


INFO = "a-1.dist-info"
CONTENTS = {
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\n",
    "zz/last.py": b"",
    'a,b/"quoted" ï.txt': b"x" * 1000,
    f"{INFO}/METADATA": b"Name: a\n",
    "a-1.data/scripts/x": b"#!python\n",
}


def written() -> bytes:
    file = io.BytesIO()
    archive = write_wheel(file, [text_member(name, content) for name, content in CONTENTS.items()], INFO)
    assert (archive.size, archive.sha256) == (len(file.getvalue()), hashlib.sha256(file.getvalue()).hexdigest())
    return file.getvalue()


def test_members_are_sorted_with_the_metadata_at_the_end() -> None:
    with zipfile.ZipFile(io.BytesIO(written())) as wheel:
        assert wheel.namelist() == [
            'a,b/"quoted" ï.txt',
            "a-1.data/scripts/x",
            "zz/last.py",
            f"{INFO}/METADATA",
            f"{INFO}/WHEEL",
            f"{INFO}/RECORD",
        ]


def test_record_lists_every_file_with_digest_and_size() -> None:
    with zipfile.ZipFile(io.BytesIO(written())) as wheel:
        rows = list(csv.reader(io.StringIO(wheel.read(f"{INFO}/RECORD").decode())))
    assert rows[-1] == [f"{INFO}/RECORD", "", ""]
    assert {row[0] for row in rows[:-1]} == CONTENTS.keys()
    for name, digest, size in rows[:-1]:
        expected = base64.urlsafe_b64encode(hashlib.sha256(CONTENTS[name]).digest()).decode().rstrip("=")
        assert (digest, size) == (f"sha256={expected}", str(len(CONTENTS[name])))


def test_the_same_bytes_in_any_order() -> None:
    first = written()
    items = list(CONTENTS.items())
    file = io.BytesIO()
    write_wheel(file, [text_member(name, content) for name, content in reversed(items)], INFO)
    assert file.getvalue() == first


def test_a_joined_member_is_digested() -> None:
    member = joined_member("a", join([small_run(b"one"), small_run(b"two")]))
    assert (member.sha256, member.mode) == (hashlib.sha256(b"onetwo").hexdigest(), 0o644)


def test_source_date_epoch_dates_the_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    with zipfile.ZipFile(io.BytesIO(written())) as wheel:
        assert {info.date_time for info in wheel.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_two_files_of_one_name_are_refused() -> None:
    members = [text_member(name, b"") for name in ("b", "c", "a", "c", "b")]
    with pytest.raises(ToolError) as error:
        write_wheel(io.BytesIO(), members, INFO)
    assert str(error.value) == "b: twice in one wheel; expected one file. Give one of them another path"


def test_a_record_of_someone_elses_is_refused() -> None:
    with pytest.raises(ToolError, match=f"^{INFO}/RECORD: twice in one wheel"):
        write_wheel(io.BytesIO(), [text_member(f"{INFO}/RECORD", b"")], INFO)


def test_a_file_is_no_directory() -> None:
    with pytest.raises(ToolError) as error:
        write_wheel(io.BytesIO(), [text_member(name, b"") for name in ("a/b/c", "a.b", "a/b")], INFO)
    assert str(error.value) == "a/b: is a file, and a directory with a/b/c, in one wheel. Give one of them another path"


@pytest.mark.parametrize("name", ["/abs/a", "../a", "a/../../b", "a//b", "./a", "a/"])
def test_members_lie_in_site_packages(name: str) -> None:
    with pytest.raises(ToolError) as error:
        write_wheel(io.BytesIO(), [text_member(name, b"")], INFO)
    assert str(error.value) == (
        f"{name}: not a valid path in a wheel; expected a relative path without `..`, `.` and empty parts. Correct "
        "`files` or `import_name`, whichever it comes from"
    )


@given(st.integers(FIRST_TIME, LAST_TIME))
def test_dos_time_is_what_zipfile_reads(seconds: int) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a", time.gmtime(seconds)[:6]), b"")
    # Time and date are the 16-bit fields at 10 and 12 of a local header (APPNOTE 4.3.7).
    fields = file.getvalue()[10:14]
    moment = dos_time(seconds)
    assert (moment.time, moment.date) == (int.from_bytes(fields[:2], "little"), int.from_bytes(fields[2:], "little"))
