"""How much space a tree needs, and what is said when there is less."""

from __future__ import annotations

import io
import lzma
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rocm_sdk import system
from rocm_sdk.devel import devel_root
from rocm_sdk.devel.space import Space, find_lack, need_of
from rocm_sdk.devel.state import Content
from rocm_sdk.devel.xz import uncompressed_size
from rocm_sdk.errors import DevelError
from trees import TREE, recorded


def test_files_count_in_blocks_and_everything_as_an_inode() -> None:
    content = Content({"t/a": 1, "t/b": 4096, "t/c": 4097, "t/d": 0}, ["t"], {"t/out": "x/out"}, {"t/link": "a"})
    need = need_of(content)
    assert need.inodes == 7
    assert need.bytes // 4096 == 1 + 1 + 2 + 0 + 1
    assert 0 < need.bytes % 4096 < 1000


def test_a_lack_is_put_in_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = os.statvfs(tmp_path)
    assert find_lack(tmp_path, Space(0, 0)) == ""
    assert find_lack(tmp_path, Space(1 << 60, 0)).startswith(f"{1 << 60} bytes are needed, ")
    few = os.statvfs_result((*free[:2], 10, 10, 10, 100, 10, 7, *free[8:]))
    monkeypatch.setattr(system.os, "statvfs", lambda _: few)  # type: ignore[attr-defined]
    assert find_lack(tmp_path, Space(0, 8)) == "8 inodes are needed, 7 are free"
    without = os.statvfs_result((*free[:2], 10, 10, 10, 0, 0, 0, *free[8:]))
    monkeypatch.setattr(system.os, "statvfs", lambda _: without)  # type: ignore[attr-defined]
    assert find_lack(tmp_path, Space(0, 8)) == ""


@pytest.mark.parametrize("compressed", [False, True])
def test_too_little_space_is_seen_before_anything_is_made(
    site: Path, monkeypatch: pytest.MonkeyPatch, compressed: bool
) -> None:
    archive = site / "rocm_sdk_devel/_devel.tar"
    if compressed:
        archive.with_suffix(".tar.xz").write_bytes(lzma.compress(archive.read_bytes()))
        needed = archive.stat().st_size
        archive.unlink()
    else:
        needed = 5 * 4096
    free = os.statvfs(site)
    full = os.statvfs_result((*free[:2], free[2], 0, 0, *free[5:]))
    monkeypatch.setattr(system.os, "statvfs", lambda _: full)  # type: ignore[attr-defined]
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", lambda *_, **__: pytest.fail("nothing should have been made"))
        with pytest.raises(DevelError, match=r"not enough space .* bytes are needed, 0 are free.*_DEVEL_ROOT") as error:
            devel_root()
    said = int(str(error.value).split(" bytes are needed")[0].rpartition(" ")[2])
    assert said >= needed
    assert not (site / TREE).exists()
    assert recorded(site) == set()


@given(st.lists(st.binary(max_size=3000), min_size=1, max_size=4), st.integers(0, 3))
def test_size_of_an_xz_file_is_read_from_its_end(parts: list[bytes], padding: int) -> None:
    # Streams may follow each other, with padding between them (The .xz File Format, 2.2).
    stream = io.BytesIO(b"".join(lzma.compress(part) + bytes(4 * padding) for part in parts))
    stream.seek(1)
    assert uncompressed_size(stream) == sum(map(len, parts))
    assert stream.tell() == 1


def test_size_of_an_xz_file_with_many_blocks() -> None:
    # 300 streams' indexes stand in for one long index; sizes above 127 take two bytes and more each.
    data = bytes(100_000)
    assert uncompressed_size(io.BytesIO(lzma.compress(data) * 300)) == 300 * len(data)


@given(st.binary(min_size=1, max_size=300), st.integers(1, 30))
def test_a_broken_xz_file_is_an_error_and_never_hangs(data: bytes, cut: int) -> None:
    whole = lzma.compress(data)
    for broken in (whole[:-4], whole[cut:], data + bytes(4), whole + b"YZ"):
        with pytest.raises(EOFError, match="xz stream"):
            uncompressed_size(io.BytesIO(broken))
