"""Wishes: what they make of a dynamic section, and which contradict each other."""

import io
from collections.abc import Callable

import pytest

from tools.lib.elf import constants as c
from tools.lib.elf.edit import ElfEdit
from tools.lib.elf.editor import plan_patch
from tools.lib.elf.errors import ElfError
from tools.lib.elf.model import ElfFile
from tools.lib.elf.patch import Strategy
from tools.lib.elf.patched import open_patched
from tools.lib.elf.reader import read_elf
from tools.lib.elf.sample import Sample

Wish = Callable[[ElfEdit], None]


def edited(sample: Sample, *wishes: Wish) -> ElfFile:
    """Read the file that the wishes make of a sample, after a check that they change nothing more the second time."""
    edit = ElfEdit()
    for wish in wishes:
        wish(edit)
    file = io.BytesIO(sample.build())
    patch = plan_patch(read_elf(file, "sample.so"), file, edit)
    result = open_patched(patch, file)
    elf = read_elf(result, "sample.so")
    assert plan_patch(elf, result, edit).strategy is Strategy.IDENTITY
    return elf


@pytest.mark.parametrize(
    ("sample", "wish", "expected"),
    [
        (Sample(), lambda e: e.set_search_path(["a", "b"]), ("a:b", None)),
        (Sample(), lambda e: e.set_search_path(["a"], c.DT_RUNPATH), (None, "a")),
        (Sample(rpath="x"), lambda e: e.set_search_path(["a"], c.DT_RUNPATH), (None, "a")),
        (Sample(rpath="x", runpath="y"), lambda e: e.set_search_path(["a"]), ("a", None)),
        (Sample(), lambda e: e.extend_search_path(["a", "b", "a"]), ("a:b", None)),
        (Sample(rpath="x:a"), lambda e: e.extend_search_path(["a", "b"]), ("x:a:b", None)),
        (Sample(runpath="x"), lambda e: e.extend_search_path(["a"]), ("x:a", None)),
        (Sample(rpath="x", runpath="y"), lambda e: e.extend_search_path(["a"]), ("y:a", None)),
        (Sample(rpath="x:"), lambda e: e.extend_search_path(["a"]), ("x::a", None)),
        (Sample(rpath=""), lambda e: e.extend_search_path(["a"]), ("a", None)),
        (Sample(runpath="x:y"), lambda e: e.extend_search_path([]), ("x:y", None)),
        (Sample(), lambda e: e.extend_search_path([]), (None, None)),
        (Sample(soname=None, needed=(), versions=()), lambda e: e.extend_search_path(["a"]), ("a", None)),
        (Sample(runpath="x"), lambda e: e.use_tag(c.DT_RPATH), ("x", None)),
        (Sample(rpath="x"), lambda e: e.use_tag(c.DT_RUNPATH), (None, "x")),
        (Sample(), lambda e: e.use_tag(c.DT_RUNPATH), (None, None)),
        (Sample(rpath="x", runpath="y"), lambda e: e.remove_search_path(), (None, None)),
    ],
)
def test_search_path(sample: Sample, wish: Wish, expected: tuple[str | None, str | None]) -> None:
    elf = edited(sample, wish)
    assert (elf.rpath, elf.runpath) == expected
    assert (elf.soname, elf.needed) == (sample.soname, sample.needed)


@pytest.mark.parametrize("soname", ["libsample.so.1", None])
def test_soname(soname: str | None) -> None:
    elf = edited(Sample(soname=soname, rpath="r"), lambda e: e.set_soname("libother.so.22"))
    assert (elf.soname, elf.rpath, elf.needed) == ("libother.so.22", "r", ("libc.so.6",))


def test_needed() -> None:
    sample = Sample(needed=("liba.so", "libb.so", "libc.so.6"))
    wishes: list[Wish] = [
        lambda e: e.add_needed("libz.so.1"),
        lambda e: e.add_needed("libb.so"),
        lambda e: e.replace_needed("libc.so.6", "libc.so.7"),
        lambda e: e.remove_needed("liba.so"),
        lambda e: e.remove_needed("libabsent.so"),
    ]
    elf = edited(sample, *wishes)
    assert elf.needed == ("libb.so", "libc.so.7", "libz.so.1")
    assert elf.versions_needed == {"libc.so.7": ("GLIBC_2.2.5",)}


def test_wishes_together() -> None:
    wishes: list[Wish] = [
        lambda e: e.set_soname("libnew.so"),
        lambda e: e.extend_search_path(["a"]),
        lambda e: e.extend_search_path(["b"]),
        lambda e: e.use_tag(c.DT_RPATH),
        lambda e: e.add_needed("libz.so.1"),
    ]
    elf = edited(Sample(runpath="r", spare=0), *wishes)
    assert (elf.soname, elf.rpath, elf.runpath) == ("libnew.so", "r:a:b", None)
    assert elf.needed == ("libc.so.6", "libz.so.1")


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        (lambda e: e.remove_needed("libc.so.6"), "symbols of certain versions are needed from it"),
        (lambda e: e.replace_needed("liba.so", "libb.so"), "neither is needed"),
    ],
)
def test_wishes_that_a_file_cannot_meet(wish: Wish, reason: str) -> None:
    with pytest.raises(ElfError, match=reason):
        edited(Sample(), wish)


@pytest.mark.parametrize(
    "wishes",
    [
        [lambda e: e.set_search_path([])],
        [lambda e: e.set_search_path(["a:b"])],
        [lambda e: e.set_search_path([""])],
        [lambda e: e.extend_search_path(["a\0"])],
        [lambda e: e.set_search_path(["a"], c.DT_NEEDED)],
        [lambda e: e.set_search_path(["a"]), lambda e: e.set_search_path(["b"])],
        [lambda e: e.set_search_path(["a"]), lambda e: e.extend_search_path(["b"])],
        [lambda e: e.extend_search_path(["a"]), lambda e: e.set_search_path(["b"])],
        [lambda e: e.extend_search_path(["a"]), lambda e: e.use_tag(c.DT_RUNPATH)],
        [lambda e: e.remove_search_path(), lambda e: e.extend_search_path(["b"])],
        [lambda e: e.use_tag(c.DT_RPATH), lambda e: e.remove_search_path()],
        [lambda e: e.set_soname("a"), lambda e: e.set_soname("b")],
        [lambda e: e.set_soname("")],
        [lambda e: e.add_needed("a"), lambda e: e.remove_needed("a")],
        [lambda e: e.remove_needed("a"), lambda e: e.add_needed("a")],
        [lambda e: e.remove_needed("a"), lambda e: e.replace_needed("a", "b")],
        [lambda e: e.replace_needed("a", "b"), lambda e: e.replace_needed("a", "c")],
        [lambda e: e.replace_needed("a", "b"), lambda e: e.replace_needed("b", "c")],
        [lambda e: e.replace_needed("b", "c"), lambda e: e.replace_needed("a", "b")],
        [lambda e: e.replace_needed("a", "a")],
    ],
)
def test_contradictions_and_nonsense_are_refused(wishes: list[Wish]) -> None:
    edit = ElfEdit()
    for wish in wishes[:-1]:
        wish(edit)
    with pytest.raises(ValueError, match=r".{20}"):
        wishes[-1](edit)
