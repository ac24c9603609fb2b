"""Patches: pieces, offsets, chunks."""

import io
import os
from pathlib import Path

import pytest

from lib.elf.patch import Literal, Patch, PatchBuilder, SourceRange, Strategy
from lib.elf.patched import open_patched, write_patched
from lib.elf.source import ElfError

SOURCE = bytes(range(100))


def build(*, remove: bool = True) -> Patch:
    builder = PatchBuilder("file", len(SOURCE))
    builder.insert(50, b"new")
    builder.overwrite(10, b"over")
    builder.overwrite(50, b"x")
    if remove:
        builder.put(70, Literal(b"", 20))
    return builder.build(Strategy.LAST_SEGMENT, ("a note",))


def test_result_in_chunks_of_every_size() -> None:
    wanted = SOURCE[:10] + b"over" + SOURCE[14:50] + b"newx" + SOURCE[51:70] + SOURCE[90:]
    patch = build()
    for size in (1, 2, 3, 7, 50, 1 << 20):
        chunks = [bytes(chunk) for chunk in patch.chunks(io.BytesIO(SOURCE), size)]
        assert b"".join(chunks) == wanted
        assert max(map(len, chunks)) <= size
    assert (patch.size, patch.source_size, patch.is_identity) == (len(wanted), 100, False)


def test_offsets() -> None:
    patch = build()
    offsets = {
        0: 0,
        10: 10,
        13: 13,
        14: 14,
        49: 49,
        50: 53,
        51: 54,
        69: 72,
        70: None,
        89: None,
        90: 73,
        99: 82,
        100: 83,
    }
    assert {old: patch.new_offset(old) for old in offsets} == offsets
    with pytest.raises(ValueError, match="outside the file of 100 bytes"):
        patch.new_offset(101)


def test_identity() -> None:
    patch = PatchBuilder("file", 5).build(Strategy.IDENTITY)
    assert patch.is_identity
    assert patch.pieces == (SourceRange(0, 5),)
    assert PatchBuilder("file", 0).build(Strategy.IDENTITY).size == 0


@pytest.mark.parametrize(("at", "size"), [(12, 1), (9, 2), (98, 4), (100, 1)])
def test_overlaps_are_refused(at: int, size: int) -> None:
    builder = PatchBuilder("file", len(SOURCE))
    builder.overwrite(10, b"over")
    builder.overwrite(at, bytes(size))
    with pytest.raises(ElfError, match="overlap"):
        builder.build(Strategy.IN_PLACE)


def test_a_source_that_became_shorter_is_told() -> None:
    with pytest.raises(ElfError, match="the file ends here; it had 100 bytes") as caught:
        list(build().chunks(io.BytesIO(SOURCE[:95])))
    assert caught.value.offset == 95


def test_patched_file_reads_as_the_written_one() -> None:
    patch = build()
    whole = b"".join(bytes(chunk) for chunk in patch.chunks(io.BytesIO(SOURCE)))
    file = open_patched(patch, io.BytesIO(SOURCE))
    assert file.read() == whole
    assert file.seek(0, os.SEEK_END) == len(whole)
    for at in range(len(whole)):
        file.seek(at)
        assert file.read(5) == whole[at : at + 5]


def test_written_file(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(SOURCE)
    patch = build()
    with (tmp_path / "source").open("rb") as file:
        write_patched(patch, file, str(tmp_path / "result"))
    assert (tmp_path / "result").read_bytes() == b"".join(bytes(chunk) for chunk in patch.chunks(io.BytesIO(SOURCE)))


def test_written_file_of_a_source_that_became_shorter(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(SOURCE[:95])
    ends = pytest.raises(ElfError, match="the file ends here")
    with (tmp_path / "source").open("rb") as file, ends:
        write_patched(build(), file, str(tmp_path / "result"))
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
