"""Tests of the sdist tool."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from packaging.metadata import Metadata

from lib.common.program import FIRST_TIME
from tools.actions.sdist.tool import gzipped, main

PROJECT = {
    "distribution": "rocm",
    "version": "7.10.0",
    "summary": "S",
    "requires_python": ">=3.9",
    "license_expression": "Apache-2.0",
    "license_files": ["LICENSE"],
    "dynamic": ["Requires-Dist", "Provides-Extra"],
}
FILES = {"src/rocm_sdk/__init__.py": b"X = 1\n", "setup.py": b"", "LICENSE": b"text\n" * 9999, "data/ï": b"\xc3\xaf"}


def build(
    directory: Path,
    files: dict[str, bytes] = FILES,
    version: str = "7.10.0",
    more: Mapping[str, object] = MappingProxyType({}),
) -> int:
    directory.mkdir()
    arguments = ["--label=//:rocm", f"--sdist={directory}/rocm-7.10.0.tar.gz"]
    arguments += [f"--{name}={directory}/{name}" for name in ("project", "description", "metadata", "digest")]
    (directory / "project").write_text(json.dumps(PROJECT | {"version": version} | dict(more)))
    (directory / "description").write_text("# Readme ï\n", encoding="utf-8")
    for number, (name, content) in enumerate(files.items()):
        (directory / str(number)).write_bytes(content)
        (directory / str(number)).chmod(0o755)
        arguments.append(f"--file={name}={directory}/{number}")
    return main(arguments)


def test_tarfile_reads_it(tmp_path: Path) -> None:
    assert build(tmp_path / "a") == 0
    with tarfile.open(tmp_path / "a/rocm-7.10.0.tar.gz") as tar:
        members = {member.name: member for member in tar}
        contents = {name: extracted.read() for name in members if (extracted := tar.extractfile(name))}
    metadata = contents.pop("rocm-7.10.0/PKG-INFO")
    assert contents == {f"rocm-7.10.0/{name}": content for name, content in FILES.items()}
    assert list(members) == sorted(members)
    for member in members.values():
        assert (member.mode, member.mtime, member.uid, member.gid) == (0o644, FIRST_TIME, 0, 0)
        assert (member.uname, member.gname) == ("", "")
    assert (tmp_path / "a/metadata").read_bytes() == metadata
    parsed = Metadata.from_email(metadata, validate=True)
    assert (parsed.name, str(parsed.version), parsed.license_files) == ("rocm", "7.10.0", ["LICENSE"])
    assert (parsed.dynamic, parsed.description) == (["requires-dist", "provides-extra"], "# Readme ï\n")


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    assert build(tmp_path / "a") == 0
    content = (tmp_path / "a/rocm-7.10.0.tar.gz").read_bytes()
    assert json.loads((tmp_path / "a/digest").read_text()) == {
        "filename": "rocm-7.10.0.tar.gz",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def test_the_same_bytes_elsewhere_and_in_another_order(tmp_path: Path) -> None:
    assert build(tmp_path / "a") == build(tmp_path / "b", dict(reversed(FILES.items()))) == 0
    one, two = ((tmp_path / name / "rocm-7.10.0.tar.gz").read_bytes() for name in "ab")
    assert one == two


@pytest.mark.parametrize("content", [b"", b"x" * 3_000_000])
def test_gzip_header_says_nothing(content: bytes) -> None:
    compressed = gzipped(content)
    # RFC 1952: no flags (so no name), no time, no extra flags, unknown system.
    assert compressed[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    with gzip.open(io.BytesIO(compressed)) as file:
        assert file.read() == content


def test_pkg_info_is_not_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build(tmp_path / "a", FILES | {"PKG-INFO": b"Name: other\n"}) == 1
    assert capsys.readouterr().err == (
        "ERROR: //:rocm: PKG-INFO: is among the files; expected it not to be, since it is written here. Remove it from "
        "`files` and `sources`\n"
    )


def test_a_bad_version_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build(tmp_path / "a", version="7.10.0-dev0") == 1
    assert capsys.readouterr().err == (
        "ERROR: //:rocm: rocm: '7.10.0-dev0' is not in normal form; expected '7.10.0.dev0'. Set `version` to that\n"
    )
    assert not (tmp_path / "a/rocm-7.10.0.tar.gz").exists()
