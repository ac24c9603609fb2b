"""Search paths: what they make of a dynamic section."""

import io

import pytest

from develop.testing.elf_sample import Sample
from lib.elf import constants as c
from lib.elf.editor import plan_patch
from lib.elf.model import ElfFile
from lib.elf.patch import Strategy
from lib.elf.patched import open_patched
from lib.elf.reader import read_elf
from lib.elf.search_path import SearchPath


def edited(sample: Sample, path: SearchPath) -> ElfFile:
    """Read the file with this search path, after a check that setting it again changes nothing."""
    file = io.BytesIO(sample.build())
    patch = plan_patch(read_elf(file, "sample.so"), file, path)
    result = open_patched(patch, file)
    elf = read_elf(result, "sample.so")
    assert plan_patch(elf, result, path).strategy is Strategy.IDENTITY
    return elf


@pytest.mark.parametrize(
    ("sample", "path", "expected"),
    [
        (Sample(), SearchPath(("a", "b")), ("a:b", None)),
        (Sample(), SearchPath(("a",), c.DT_RUNPATH), (None, "a")),
        (Sample(rpath="x"), SearchPath(("a",), c.DT_RUNPATH), (None, "a")),
        (Sample(rpath="x", runpath="y"), SearchPath(("a",)), ("a", None)),
        (Sample(), SearchPath(("a", "b", "a"), extend=True), ("a:b", None)),
        (Sample(rpath="x:a"), SearchPath(("a", "b"), extend=True), ("x:a:b", None)),
        (Sample(runpath="x"), SearchPath(("a",), extend=True), ("x:a", None)),
        (Sample(rpath="x", runpath="y"), SearchPath(("a",), extend=True), ("y:a", None)),
        (Sample(rpath="x:"), SearchPath(("a",), extend=True), ("x::a", None)),
        (Sample(rpath=""), SearchPath(("a",), extend=True), ("a", None)),
        (Sample(runpath="x:y"), SearchPath((), extend=True), ("x:y", None)),
        (Sample(), SearchPath((), extend=True), (None, None)),
        (Sample(soname=None, needed=(), versions=()), SearchPath(("a",), extend=True), ("a", None)),
        (Sample(runpath="x"), SearchPath((), c.DT_RPATH, extend=True), ("x", None)),
        (Sample(rpath="x"), SearchPath((), c.DT_RUNPATH, extend=True), (None, "x")),
        (Sample(), SearchPath((), c.DT_RUNPATH, extend=True), (None, None)),
        (Sample(rpath="x", runpath="y"), SearchPath(()), (None, None)),
    ],
)
def test_search_path(sample: Sample, path: SearchPath, expected: tuple[str | None, str | None]) -> None:
    elf = edited(sample, path)
    assert (elf.rpath, elf.runpath) == expected
    assert (elf.soname, elf.needed) == (sample.soname, sample.needed)


@pytest.mark.parametrize(
    ("entries", "tag"),
    [(["a:b"], c.DT_RPATH), ([""], c.DT_RPATH), (["a\0"], c.DT_RPATH), (["a"], c.DT_NEEDED)],
)
def test_nonsense_is_refused(entries: list[str], tag: int) -> None:
    with pytest.raises(ValueError, match="a search path"):
        SearchPath(tuple(entries), tag)
