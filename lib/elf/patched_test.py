"""Patches on patches, and pieces that are made on the way."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.elf.patch import Literal, Made, Patch, PatchBuilder, Strategy
from lib.elf.patched import compose, open_patched
from lib.elf.source import ElfError

SOURCE = bytes(range(60))


@dataclass(frozen=True)
class Reversed:
    """Makes the file's bytes from a range of it, the last one first."""

    start: int
    stop: int

    def chunks(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield seven bytes at a time."""
        file.seek(self.start)
        data = file.read(self.stop - self.start)[::-1]
        yield from (data[at : at + 7] for at in range(0, len(data), 7))


def result(patch: Patch, source: bytes, size: int = 1 << 20) -> bytes:
    return b"".join(bytes(chunk) for chunk in patch.chunks(io.BytesIO(source), size))


@st.composite
def patches(draw: st.DrawFn, size: int, *, make: bool = True) -> Patch:
    """Make any patch of a file of `size` bytes."""
    builder = PatchBuilder("file", size)
    places = sorted(draw(st.lists(st.integers(0, size), max_size=12, unique=True)))
    for start, stop in pairwise(places):
        kind = draw(st.sampled_from(["keep", "overwrite", "insert", "remove", *(["make"] if make else [])]))
        if kind == "overwrite":
            builder.overwrite(start, draw(st.binary(min_size=stop - start, max_size=stop - start)))
        elif kind == "insert":
            builder.insert(start, draw(st.binary(max_size=5)))
        elif kind == "remove":
            builder.put(start, Literal(b"", stop - start))
        elif kind == "make":
            builder.put(start, Made(Reversed(0, size), size // 2, draw(st.integers(0, stop - start)), start=size // 3))
    return builder.build(draw(st.sampled_from(Strategy)), draw(st.sampled_from([(), ("a note",)])))


@given(st.data(), st.sampled_from([1, 3, 1 << 20]))
def test_one_patch_does_what_two_do(data: st.DataObject, size: int) -> None:
    first = data.draw(patches(len(SOURCE)))
    between = result(first, SOURCE)
    assert len(between) == first.size
    second = data.draw(patches(len(between), make=False))
    after = result(second, between)
    both = compose(first, second)
    assert (both.size, both.source_size) == (len(after), len(SOURCE))
    assert both.notes == first.notes + second.notes
    assert result(both, SOURCE, size) == after
    assert open_patched(both, io.BytesIO(SOURCE)).read() == after


@given(st.data())
def test_made_bytes_are_read_from_anywhere(data: st.DataObject) -> None:
    patch = data.draw(patches(len(SOURCE)))
    whole, file = result(patch, SOURCE), open_patched(patch, io.BytesIO(SOURCE))
    for start, size in data.draw(st.lists(st.tuples(st.integers(0, len(whole)), st.integers(0, 40)), max_size=9)):
        file.seek(start)
        assert file.read(size) == whole[start : start + size]


def test_patches_that_do_not_fit() -> None:
    one, other = (PatchBuilder("file", size).build(Strategy.IDENTITY) for size in (9, 10))
    with pytest.raises(ValueError, match="file: a patch of 10 bytes behind a patch that makes 9"):
        compose(one, other)
    builder = PatchBuilder("file", 9)
    builder.put(0, Made(Reversed(0, 9), 9))
    with pytest.raises(ValueError, match="the second patch makes bytes"):
        compose(one, builder.build(Strategy.RESIZED))


def test_fewer_bytes_than_planned() -> None:
    builder = PatchBuilder("file", 60)
    builder.put(3, Made(Reversed(0, 60), 10, start=55))
    with pytest.raises(ElfError, match="5 bytes fewer than planned were made"):
        result(builder.build(Strategy.RESIZED), SOURCE)
