"""Tests of the archive of the devel package, read with tarfile."""

import io
import tarfile

import pytest

from lib.common.program import FIRST_TIME
from lib.pack.packed_tree import tar_runs
from lib.pack.segment import Packed
from lib.wheel.deflated_run import Joined, join, small_run

LONG = "/".join(["a-rather-long-directory-name"] * 12)
FILES = {
    "include/a.h": b"#pragma once\n",
    "include/exact": b"x" * 512,
    "include/zero": b"",
    "lib/ï – 文": b"non-ASCII" * 1000,
    f"{LONG}/file": b"long",
}


PACKED = {
    path: Packed(path, "0444" if path == "include/zero" else "0755", 0, 0, len(content), 0, "")
    for path, content in FILES.items()
}


def archive() -> Joined:
    return join(tar_runs("_devel", PACKED, {path: small_run(content) for path, content in FILES.items()}))


@pytest.fixture
def tar() -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BytesIO(b"".join(archive().inflated())), mode="r:")


def test_members_come_in_order_below_the_tree(tar: tarfile.TarFile) -> None:
    assert tar.getnames() == sorted(f"_devel/{name}" for name in FILES)
    assert all(member.isreg() for member in tar)


def test_files_have_content_and_mode(tar: tarfile.TarFile) -> None:
    for path, content in FILES.items():
        member = tar.getmember(f"_devel/{path}")
        extracted = tar.extractfile(member)
        assert extracted
        assert extracted.read() == content
        assert member.mode == (0o444 if path == "include/zero" else 0o755)


def test_nothing_says_where_when_or_by_whom_it_was_made(tar: tarfile.TarFile) -> None:
    for member in tar:
        assert (member.mtime, member.uid, member.gid, member.uname, member.gname) == (FIRST_TIME, 0, 0, "", "")


def test_two_zero_blocks_end_it() -> None:
    data = b"".join(archive().inflated())
    assert len(data) % 512 == 0
    assert data[-1024:] == bytes(1024)


def test_the_same_bytes_twice() -> None:
    assert b"".join(archive().chunks()) == b"".join(archive().chunks())


def test_source_date_epoch_dates_the_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    with tarfile.open(fileobj=io.BytesIO(b"".join(archive().inflated()))) as tar:
        assert {member.mtime for member in tar} == {1700000000}
