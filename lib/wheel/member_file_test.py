"""Members are read once from beginning to end, and then from anywhere, as zipfile reads them."""

import io
import random
import zlib
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.wheel import member_file
from lib.wheel.member_file import MemberError, MemberReader
from lib.wheel.zip_members import DEFLATED, STORED, ZipMember


def content(size: int, seed: int = 1) -> bytes:
    """Make bytes that shrink to about a half."""
    return random.Random(seed).randbytes(size // 2 + 1).hex().encode()[:size]


def member(data: bytes, method: int, size: int | None = None) -> tuple[BinaryIO, ZipMember]:
    """Return a file with the member's bytes at 10, and the member."""
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    stream = compressor.compress(data) + compressor.flush() if method == DEFLATED else data
    length = len(data) if size is None else size
    file = io.BytesIO(b"in front  " + stream + b"behind")
    return file, ZipMember("m", method, 0, zlib.crc32(data), len(stream), length, 0, 10, 3, 0)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small files be treated like large ones."""
    for name, value in {"CHUNK": 1000, "INPUT": 64, "SPACING": 3000, "SMALL": 0, "BLOCK": 500}.items():
        monkeypatch.setattr(member_file, name, value)


@pytest.mark.parametrize("method", [STORED, DEFLATED])
@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, 9 << 20])
def test_chunks_are_the_whole(method: int, size: int) -> None:
    data = content(size)
    reader = MemberReader(*member(data, method))
    chunks = list(reader.chunks())
    assert b"".join(chunks) == data
    assert all(0 < len(chunk) <= member_file.CHUNK for chunk in chunks)
    assert reader.open().read() == data


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("method", [STORED, DEFLATED])
def test_any_place_can_be_read(method: int) -> None:
    data = content(50_000)
    reader = MemberReader(*member(data, method))
    assert b"".join(reader.chunks()) == data
    file = reader.open()
    assert file.seek(0, io.SEEK_END) == len(data)
    rng = random.Random(2)
    for _ in range(300):
        at, size = rng.randrange(len(data) + 10), rng.randrange(5000)
        file.seek(at)
        assert file.read(size) == data[at : at + size]


@pytest.mark.usefixtures("small_steps")
def test_a_seek_back_goes_on_from_a_checkpoint() -> None:
    data = content(200_000)
    file, described = member(data, DEFLATED)
    reader = MemberReader(file, described)
    list(reader.chunks())
    opened = reader.open()
    opened.seek(190_000)
    opened.read(10)
    reads: list[int] = []
    original = file.read
    file.read = lambda size=-1: reads.append(size) or original(size)  # type: ignore[method-assign,func-returns-value]
    opened.seek(100_000)
    assert opened.read(10) == data[100_000:100_010]
    assert sum(reads) < 20_000


def test_reading_to_and_fro_inflates_once() -> None:
    """Imports of a DLL and their names, for instance: with no blocks kept, each step would inflate megabytes."""
    data = content(member_file.SMALL + 2 * member_file.BLOCK)
    file, described = member(data, DEFLATED)
    reader = MemberReader(file, described)
    list(reader.chunks())
    opened = reader.open()
    reads: list[int] = []
    original = file.read
    file.read = lambda size=-1: reads.append(size) or original(size)  # type: ignore[method-assign,func-returns-value]
    for step in range(500):
        for at in (member_file.SMALL + step, 10 * step):
            opened.seek(at)
            assert opened.read(10) == data[at : at + 10]
    assert sum(reads) < 3 * described.compressed


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=3000), st.integers(-5, 5).filter(bool))
def test_a_size_that_is_wrong_is_an_error(data: bytes, difference: int) -> None:
    size = max(0, len(data) + difference)
    if size != len(data):
        reader = MemberReader(*member(data, DEFLATED, size))
        with pytest.raises(MemberError, match=r"archive says"):
            list(reader.chunks())


def test_a_stream_that_ends_early_or_late_is_an_error() -> None:
    file, whole = member(content(5000), DEFLATED)
    for extra, message in ((-5, "inside the stream"), (3, "behind the end")):
        values = [getattr(whole, name) for name in ZipMember.__slots__]
        values[ZipMember.__slots__.index("compressed")] += extra
        with pytest.raises(MemberError, match=message):
            list(MemberReader(file, ZipMember(*values)).chunks())


def test_what_inflates_to_more_than_it_says_is_stopped_at_once() -> None:
    reader = MemberReader(*member(bytes(64 << 20), DEFLATED, 10))
    with pytest.raises(MemberError, match="more than the 10 bytes"):
        list(reader.chunks())
