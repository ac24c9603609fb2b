"""Tests of the archive of the devel package, read with tarfile."""

import io
import lzma
import random
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lib.common.archive_time import FIRST
from lib.pack.segment import Packed
from lib.wheel.deflated_run import Joined, join, small_run
from tools.actions.link import tar_stream
from tools.actions.link.tar_stream import tar_runs, xz_runs

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
        assert (member.mtime, member.uid, member.gid, member.uname, member.gname) == (FIRST, 0, 0, "", "")


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


def compress(chunks: list[bytes], threads: int, directory: Path) -> bytes:
    path = directory / f"scratch{threads}"
    with path.open("wb") as scratch:
        return b"".join(join(xz_runs(chunks, threads, scratch)).inflated())


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar_stream, "PART_BYTES", 1000)


CHUNKS = [random.Random(number).randbytes(number % 50) * 30 for number in range(99)]


def test_any_number_of_threads_gives_the_same(tmp_path: Path) -> None:
    results = {compress(CHUNKS, threads, tmp_path) for threads in (1, 2, 3)}
    assert len(results) == 1
    assert lzma.decompress(results.pop()) == b"".join(CHUNKS)


def test_it_has_a_strong_check(tmp_path: Path) -> None:
    # The xz file format, 2.1.1.2: stream flags 0x0A say SHA-256.
    assert compress([b"x"], 1, tmp_path)[:8] == b"\xfd7zXZ\0\0\x0a"


def test_only_a_few_parts_are_in_memory(tmp_path: Path) -> None:
    taken = 0

    def stream() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(20):
            taken += 1
            yield bytes(1000)

    with (tmp_path / "scratch").open("wb") as scratch:
        for done, _ in enumerate(xz_runs(stream(), 2, scratch), 1):
            assert taken <= done + 2
    assert taken == 20
