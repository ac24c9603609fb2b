"""Tests of layers: what a wheel's files become, and the bytes around them."""

import gzip
import io
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.common.program import ToolError, archive_time
from lib.deflate.library import deflate_block
from lib.wheel.deflated_run import GZIP_HEADER, Run, join, small_run
from lib.wheel.metadata_writer import entry_points_text
from lib.wheel.output_file import Output
from lib.wheel.wheel_writer import ZipArchive, text_member, write_wheel
from tools.actions.layer.installed_wheel import InstalledFile, InstallScheme, read_wheel
from tools.actions.layer.tool import archive_runs, main, write_layer

SCHEME = InstallScheme("usr/lib/python3/dist-packages", "usr/local/bin", "/usr/bin/python3")
INFO = "acme-1.0.dist-info"
BULK = bytes(range(256)) * 12_000
FILES = {
    "_acme/lib/libacme.so": (BULK, 0o755),
    "_acme/share/readme": (b"text\n", 0o444),
    "acme/__init__.py": (b"", 0o644),
    f"{INFO}/METADATA": (b"Name: acme\n", 0o644),
    f"{INFO}/entry_points.txt": (entry_points_text([("Tool", "acme._cli:tool")]).encode(), 0o644),
}


def wheel(directory: Path, files: Mapping[str, tuple[bytes, int]] = FILES, tag: str = "linux_x86_64") -> str:
    """Write a wheel; return its path."""
    path = directory / f"acme-1.0-py3-none-{tag}.whl"
    with path.open("wb") as file:
        write_wheel(file, [text_member(name, data, mode) for name, (data, mode) in files.items()], INFO)
    return str(path)


def run(directory: Path, path: str, *options: str) -> int:
    """Run the tool; what is given here is not given by `options`."""
    arguments = ["--label=//:layer", f"--wheel={path}", f"--layer={directory}/layer"]
    arguments += ["--site-packages=usr/lib/python3/dist-packages", "--scripts=usr/local/bin"]
    arguments += ["--python=/usr/bin/python3"]
    given = {one.partition("=")[0] for one in options}
    return main([*(one for one in arguments if one.partition("=")[0] not in given), *options])


def test_a_layer_has_what_pip_would_have_installed(tmp_path: Path) -> None:
    assert run(tmp_path, wheel(tmp_path)) == 0
    site = SCHEME.site_packages
    with tarfile.open(tmp_path / "layer") as archive:
        members = {member.name: member for member in archive}
        assert list(members)[:4] == ["usr", "usr/lib", "usr/lib/python3", site]
        assert list(members) == sorted(members)
        assert {(member.uid, member.gid, member.uname, member.mtime) for member in members.values()} == {
            (0, 0, "", 315532800)
        }
        assert {member.mode for member in members.values() if member.isdir()} == {0o755}
        contents = {name: archive.extractfile(member).read() for name, member in members.items() if member.isreg()}  # type: ignore[union-attr]
    assert contents.keys() == {
        *(f"{site}/{name}" for name in FILES),
        *(f"{site}/{INFO}/{name}" for name in ("RECORD", "INSTALLER")),
        "usr/local/bin/Tool",
    }
    for name, (data, mode) in FILES.items():
        assert contents[f"{site}/{name}"] == data
        assert members[f"{site}/{name}"].mode == (0o755 if mode & 0o111 else 0o644)
    assert contents["usr/local/bin/Tool"] == (
        b"#!/usr/bin/python3\nimport sys\nfrom acme._cli import tool\n\nsys.exit(tool())\n"
    )
    assert members["usr/local/bin/Tool"].mode == 0o755
    record = contents[f"{site}/{INFO}/RECORD"].decode().splitlines()
    assert len(record) == len(contents)
    assert any(line.startswith("../../../local/bin/Tool,sha256=") for line in record)
    assert f"{INFO}/RECORD,," in record


def test_the_framing_is_fixed(tmp_path: Path) -> None:
    """Of a released layer no byte may change: engines compare inflated ones, and registries compressed ones."""
    assert run(tmp_path, wheel(tmp_path)) == 0
    layer = (tmp_path / "layer").read_bytes()
    inflated = gzip.decompress(layer)
    assert layer[:10] == GZIP_HEADER == bytes.fromhex("1f8b08000000000000ff")
    assert layer[-10:] == b"\x03\x00" + struct.pack("<2L", zlib.crc32(inflated), len(inflated))
    assert inflated[-1024:] == bytes(1024)
    assert len(inflated) % 10_240


def test_no_byte_of_a_wheel_is_compressed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only headers, paddings, INSTALLER, RECORD and scripts are deflated: none has more than a few KB."""
    path = wheel(tmp_path)
    deflated: list[int] = []

    def counted(data: bytes, level: int) -> bytes:
        deflated.append(len(data))
        return deflate_block(data, level)

    monkeypatch.setattr("lib.wheel.deflated_run.deflate_block", counted)
    assert run(tmp_path, path) == 0
    assert deflated
    assert max(deflated) <= 1024
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("_acme/lib/libacme.so")
        start = info.header_offset + 30 + len(info.filename)
    stream = Path(path).read_bytes()[start : start + info.compress_size - 2]
    assert stream in (tmp_path / "layer").read_bytes()


def test_the_same_bytes_in_another_directory(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert run(tmp_path / name, wheel(tmp_path / name)) == 0
    assert (tmp_path / "one/layer").read_bytes() == (tmp_path / "two/layer").read_bytes()


NAMES = st.lists(st.text("aé-", min_size=1, max_size=120), min_size=1, max_size=3).map("/".join)


@given(st.dictionaries(NAMES, st.binary(max_size=1500), max_size=4))
def test_every_reader_of_tars_finds_the_same_files(contents: dict[str, bytes]) -> None:
    """GNU tar takes names of any length; dpkg knows no pax headers."""
    parts = {name: {"/".join(name.split("/")[:end]) for end in range(1, name.count("/") + 1)} for name in contents}
    contents = {name: data for name, data in contents.items() if not any(name in above for above in parts.values())}
    files = [InstalledFile(name, 0o644, small_run(data), "") for name, data in contents.items()]
    with tempfile.NamedTemporaryFile() as file:
        write_layer(files, file.name)
        inflated = gzip.decompress(Path(file.name).read_bytes())
    with tarfile.open(fileobj=io.BytesIO(inflated)) as archive:
        found = {member.name: archive.extractfile(member).read() for member in archive if member.isreg()}  # type: ignore[union-attr]
        assert not any(member.type in (tarfile.XHDTYPE, tarfile.XGLTYPE) for member in archive)
    assert found == contents


@pytest.mark.parametrize("size", [(4 << 30) + 1, (8 << 30) + 1])
def test_a_file_of_many_gigabytes_has_its_size_in_the_header(size: int) -> None:
    huge = InstalledFile("huge", 0o644, Run(0, size, 0), "")
    header = next(iter(archive_runs([huge])))
    read = tarfile.TarInfo.frombuf(zlib.decompress(header.data + b"\3\0", -15), "utf-8", "strict")
    assert (read.name, read.size) == ("huge", size)


def test_the_size_of_a_gzip_member_is_modulo_2_to_the_32() -> None:
    assert replace(join([]), size=(4 << 30) + 5).gzip_trailer().endswith(b"\5\0\0\0")


def test_a_damaged_wheel_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(wheel(tmp_path))
    content = bytearray(path.read_bytes())
    content[2000] ^= 0xFF
    path.write_bytes(content)
    assert run(tmp_path, str(path)) == 1
    assert capsys.readouterr().err.endswith("Build the wheel again\n")
    path.write_bytes(content[:-100])
    assert run(tmp_path, str(path)) == 1
    assert "there is no end record (PK\\5\\6). Build the wheel again\n" in capsys.readouterr().err


def test_a_wheel_of_another_program_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "acme-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("acme.py", "x = 1\n" * 100)
        archive.writestr(f"{INFO}/RECORD", "")
    assert run(tmp_path, str(path)) == 1
    assert capsys.readouterr().err == (
        f"ERROR: //:layer: {path}: acme.py: its bytes cannot be joined to a layer, because another program compressed "
        "them; expected a wheel of sdk_wheel or sdk_static_wheel. Build it with them\n"
    )


@pytest.mark.parametrize(
    ("tag", "options", "message"),
    [
        ("win_amd64", [], "its platform tag is win_amd64; expected one of Linux that ends in _x86_64 or _aarch64"),
        ("any", ["--site-packages=../etc"], "site_packages is '../etc'; expected a directory in the image"),
        ("any", ["--scripts=/bin"], "scripts is '/bin'; expected a directory in the image"),
        ("any", ["--python=python3"], "python is 'python3'; expected an absolute path in the image"),
        (
            "any",
            ["--scripts=usr/lib/python3/dist-packages/_acme/share/readme"],
            "usr/lib/python3/dist-packages/_acme/share/readme: a second file, or a directory, has this path",
        ),
    ],
)
def test_what_fits_no_image_is_refused(
    tag: str, options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, wheel(tmp_path, tag=tag), *options) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../x", "a//b", "/a", "acme-1.0.data/scripts/x"])
def test_a_name_that_leads_out_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lib.wheel.wheel_writer._check_names", list)
    with pytest.raises(ToolError, match=f"{name}' cannot be placed in an image; expected"):
        read_wheel(wheel(tmp_path, {name: (b"", 0o644)}), SCHEME).with_record()


def test_a_console_script_that_leads_out_is_refused(tmp_path: Path) -> None:
    entry_points = b"[console_scripts]\n../../../etc/x = a:b\n"
    with pytest.raises(ToolError, match=r"'../../../etc/x' cannot be placed in an image; expected"):
        read_wheel(wheel(tmp_path, {f"{INFO}/entry_points.txt": (entry_points, 0o644)}), SCHEME).with_record()


BAD_RECORDS = {
    "not UTF-8": (b"\xff", "is not UTF-8"),
    "a quote without an end": (b'"', "expected CSV"),
    "two fields": (b"acme/__init__.py,sha256=\n", "line 1 has 2 fields; expected 3"),
    "four fields": (b"acme/__init__.py,,,\n", "line 1 has 4 fields; expected 3"),
    "a field without bounds": (b"a" * 200_000, "expected CSV"),
    "digest of 5 characters": (b"acme/__init__.py,sha256=abcde,0\n", "'abcde'; expected the SHA-256"),
    "digest with é": ("acme/__init__.py,sha256=éééé,0\n".encode(), "'éééé'; expected the SHA-256"),
    "digest of 3 bytes": (b"acme/__init__.py,sha256=abcd,0\n", "'abcd'; expected the SHA-256"),
    "no digest": (b"acme/__init__.py,,\n", "RECORD has no SHA-256 of it"),
    "one file twice": (b"acme/__init__.py,,\nacme/__init__.py,,\n", "line 2 has acme/__init__.py a second time"),
}
BAD_ENTRY_POINTS = {
    "not UTF-8": (b"[console_scripts]\n\xff = a:b\n", "is not UTF-8"),
    "no section": (b"x = a:b\n", "line 1: 'x = a:b' comes before the first [group]"),
    "a name twice": (b"[console_scripts]\nx = a:b\nx = a:c\n", "line 3: [console_scripts] has 'x' a second time"),
    "a section twice": (b"[console_scripts]\n[console_scripts]\n", "line 2: [console_scripts] is there a second time"),
    "no reference": (b"[console_scripts]\nx\n", "line 2: 'x'; expected `name = module:object`"),
    "no name": (b"[console_scripts]\n= a:b\n", "line 2: '= a:b'; expected `name = module:object`"),
    "no object": (b"[console_scripts]\nx = a\n", "x = 'a'; expected `module:function`"),
    "code": (b"[console_scripts]\nx = a:b;import os\n", "x = 'a:b;import os'; expected `module:function`"),
    "a second line": (b"[console_scripts]\nx = a:b\n  ;c\n  d\n", "line 4: 'd'; expected `name = module:object`"),
    "a line without bounds": (b"[console_scripts]\n" + b"a" * 2_000_000, "2000018 bytes; expected 1048576 at most"),
}


@pytest.mark.parametrize("case", BAD_RECORDS)
def test_a_record_that_cannot_be_read(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record, message = BAD_RECORDS[case]
    path = Path(wheel(tmp_path))
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with path.open("wb") as file:
        rewritten = {**members, f"{INFO}/RECORD": record}
        archive_of(file, rewritten)
    assert run(tmp_path, str(path)) == 1
    assert message in capsys.readouterr().err


def archive_of(file: BinaryIO, members: Mapping[str, bytes]) -> None:
    """Write an archive with these members, and no other RECORD than they have."""
    with Output(file) as output:
        archive = ZipArchive(output, archive_time())
        for name, content in members.items():
            archive.add(name, 0o644, join([small_run(content)]))
        archive.close()


@pytest.mark.parametrize("case", BAD_ENTRY_POINTS)
def test_entry_points_that_cannot_be_read(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, message = BAD_ENTRY_POINTS[case]
    assert run(tmp_path, wheel(tmp_path, {f"{INFO}/entry_points.txt": (content, 0o644)})) == 1
    said = capsys.readouterr().err
    assert f"{INFO}/entry_points.txt" in said
    assert message in said


def test_a_default_section_is_no_script_and_windows_of_a_program_are(tmp_path: Path) -> None:
    """importlib.metadata, from which pip makes scripts, knows neither defaults nor continued lines."""
    content = b"[DEFAULT]\nno = a:b\n[gui_scripts]\nwindow = acme.ui:App.run [extra]\n[console_scripts]\n"
    files = read_wheel(wheel(tmp_path, {f"{INFO}/entry_points.txt": (content, 0o644)}), SCHEME).with_record()
    scripts = [file for file in files if file.path.startswith("usr/local/bin/")]
    assert [file.path for file in scripts] == ["usr/local/bin/window"]
    text = b"".join(join([scripts[0].run]).inflated())
    assert text == b"#!/usr/bin/python3\nimport sys\nfrom acme.ui import App\n\nsys.exit(App.run())\n"


def test_a_record_larger_than_any_is_not_inflated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "acme-1.0-py3-none-any.whl"
    with path.open("wb") as file:
        archive_of(file, {f"{INFO}/RECORD": bytes(64 << 20)})
    assert run(tmp_path, str(path)) == 1
    assert "RECORD: 67108864 bytes; expected 33554432 at most" in capsys.readouterr().err


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = Path(wheel(tmp_path, {"é": (b"", 0o644)}))
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xfe"))
    with pytest.raises(ToolError, match=r"'\\udcff\\udcfe' cannot be placed in an image; expected a relative path"):
        read_wheel(str(path), SCHEME).with_record()
