"""Search paths, and other names of needed libraries: on samples, byte by byte, and in linked files, which then load."""

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from develop.testing.linked_elf import compiler, complaints, facts, link
from lib.elf.dynamic_edit import DynamicEdit
from lib.elf.dynamic_symbols import NeededSymbol, read_dynamic_symbols
from lib.elf.editor import plan_patch
from lib.elf.model import ElfFile
from lib.elf.patch import Patch, Strategy
from lib.elf.patched import open_patched
from lib.elf.reader import read_elf
from lib.elf.source import ElfError


def edited(sample: Sample, edit: DynamicEdit) -> ElfFile:
    """Read the file with this search path, after a check that setting it again changes nothing."""
    file = io.BytesIO(sample.build())
    patch = plan_patch(read_elf(file, "sample.so"), file, edit)
    result = open_patched(patch, file)
    elf = read_elf(result, "sample.so")
    assert plan_patch(elf, result, edit).strategy is Strategy.IDENTITY
    return elf


@pytest.mark.parametrize(
    ("sample", "entries", "expected"),
    [
        (Sample(), ("a", "b"), "a:b"),
        (Sample(rpath="a:b"), ("a", "b"), "a:b"),
        (Sample(runpath="x:y"), ("a",), "a"),
        (Sample(runpath="a"), ("a",), "a"),
        (Sample(rpath="x", runpath="y"), ("a",), "a"),
        (Sample(rpath="x", runpath="y"), (), None),
        (Sample(), (), None),
        (Sample(soname=None, needed=(), versions=()), ("a",), "a"),
    ],
)
def test_search_path(sample: Sample, entries: tuple[str, ...], expected: str | None) -> None:
    elf = edited(sample, DynamicEdit(entries))
    assert (elf.rpath, elf.runpath) == (expected, None)
    assert (elf.soname, elf.needed) == (sample.soname, sample.needed)


@pytest.mark.parametrize("entry", ["a:b", "", "a\0"])
def test_nonsense_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="a search path"):
        DynamicEdit((entry,))


OLD, NEW = "libhip-1a2b3c4d.so.6.1", "libhip.so.6"
EDIT = DynamicEdit(needed={OLD: NEW})


def applied(data: bytes, edit: DynamicEdit) -> tuple[ElfFile, bytes, Patch]:
    """Edit a file; returns its facts, its bytes and the patch."""
    file = io.BytesIO(data)
    patch = plan_patch(read_elf(file, "sample.so"), file, edit)
    result = b"".join(bytes(chunk) for chunk in patch.chunks(file))
    return read_elf(io.BytesIO(result), "sample.so"), result, patch


def test_a_name_that_nothing_else_uses_is_overwritten() -> None:
    data = Sample(needed=("libc.so.6", OLD)).build()
    elf, result, patch = applied(data, EDIT)
    assert (elf.needed, patch.strategy, len(result)) == (("libc.so.6", NEW), Strategy.IN_PLACE, len(data))
    assert result == data.replace(OLD.encode(), NEW.encode().ljust(len(OLD), b"\0"))


def test_version_requirements_follow() -> None:
    data = Sample(needed=(OLD, "libc.so.6"), versions=((OLD, ("hip_4.2",)), ("libc.so.6", ("GLIBC_2.2.5",)))).build()
    elf, result, patch = applied(data, EDIT)
    assert elf.needed == (NEW, "libc.so.6")
    assert elf.versions_needed == {NEW: ("hip_4.2",), "libc.so.6": ("GLIBC_2.2.5",)}
    assert (patch.strategy, len(result)) == (Strategy.IN_PLACE, len(data))
    assert OLD.encode() not in result


def test_a_name_that_a_symbol_ends_with_stays() -> None:
    data = Sample(needed=(OLD,), symbols=(OLD, "function"), versions=()).build()
    elf, result, patch = applied(data, EDIT)
    assert elf.needed == (NEW,)
    assert patch.strategy is not Strategy.IN_PLACE
    assert OLD.encode() in result


def test_a_longer_name_and_a_search_path_at_once() -> None:
    edit = DynamicEdit(("$ORIGIN", "$ORIGIN/sdk"), {"libc.so.6": "lib" + "x" * 100 + ".so"})
    elf, result, _ = applied(Sample(rpath="$ORIGIN").build(), edit)
    assert (elf.needed, elf.rpath) == (("lib" + "x" * 100 + ".so",), "$ORIGIN:$ORIGIN/sdk")
    assert list(elf.versions_needed) == ["lib" + "x" * 100 + ".so"]
    assert applied(result, edit)[2].strategy is Strategy.IDENTITY


def test_a_name_that_is_not_needed_changes_nothing() -> None:
    assert applied(Sample().build(), EDIT)[2].strategy is Strategy.IDENTITY
    with pytest.raises(ElfError, match="contradictory"):
        applied(Sample(needed=("libm.so.6", OLD), versions=(("liba.so", ("A",)),)).build(), with_more("liba.so"))


def with_more(name: str) -> DynamicEdit:
    return DynamicEdit(needed={OLD: NEW, name: "libb.so"})


@pytest.mark.parametrize("needed", [{"a": ""}, {"a": "b\0"}, {"a": "b", "b": "c"}])
def test_names_that_cannot_be(needed: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"cannot be the name|is renamed to"):
        DynamicEdit(needed=needed)


CODE = "int inner_1(int x) { return 2 * x; } __attribute__((weak)) int inner_2(void) { return 1; }"
USER = """extern int inner_1(int); extern int absent(void) __attribute__((weak)); extern int inner_2(void);
int outer(int x) { return inner_1(x) + 10 + (absent ? 1 : 0) + inner_2() - 1; }"""
VERSIONS = "INNER_1 { global: inner_1; }; INNER_2 { global: inner_2; } INNER_1;"


def pair(folder: Path) -> Path:
    """Link a library that needs versions of another one under a grafted name; that has its plain name here."""
    (folder / "versions").write_text(VERSIONS, encoding="utf-8")
    script = f"-Wl,--version-script={folder / 'versions'}"
    grafted = link(folder / OLD, CODE, "-shared", "-fPIC", f"-Wl,-soname,{OLD}", script)
    user = link(folder / "libouter.so", USER, "-shared", "-fPIC", str(grafted))
    grafted.unlink()
    link(folder / NEW, CODE, "-shared", "-fPIC", f"-Wl,-soname,{NEW}", script)
    return user


def answer(library: Path) -> str:
    """Load a library in a process of its own, every symbol at once; returns what its function says, or the error."""
    code = "import ctypes, os, sys; print(ctypes.CDLL(sys.argv[1], os.RTLD_NOW).outer(4))"
    done = subprocess.run([sys.executable, "-c", code, str(library)], capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


@pytest.mark.skipif(compiler() is None, reason="no C compiler on this machine")
def test_a_linked_file_loads_with_the_library_of_the_new_name(tmp_path: Path) -> None:
    source = pair(tmp_path)
    edited = tmp_path / "edited.so"
    edit = DynamicEdit(("$ORIGIN",), {OLD: NEW})
    with source.open("rb") as file, edited.open("wb") as out:
        out.writelines(plan_patch(read_elf(file, str(source)), file, edit).chunks(file))
    assert OLD in answer(source)
    assert answer(edited) == "18"
    assert facts(edited).versions_needed[NEW] == facts(source).versions_needed[OLD]
    assert complaints(edited) <= complaints(source)
    if shutil.which("readelf"):
        said = subprocess.run(["readelf", "-VdW", str(edited)], capture_output=True, text=True, check=True).stdout
        assert f"File: {NEW}" in said
        assert f"Shared library: [{NEW}]" in said
        assert OLD not in said


@pytest.mark.skipif(compiler() is None, reason="no C compiler on this machine")
def test_symbols_and_their_versions_are_read(tmp_path: Path) -> None:
    user = pair(tmp_path)
    with user.open("rb") as file:
        symbols = read_dynamic_symbols(file, facts(user))
    from_inner = sorted((one.name, one.version, one.is_weak) for one in symbols.needed if one.library == OLD)
    assert from_inner == [("inner_1", "INNER_1", False), ("inner_2", "INNER_2", False)]
    assert NeededSymbol("absent", is_weak=True) in symbols.needed
    assert symbols.defines("outer")
    with (tmp_path / NEW).open("rb") as file:
        library = read_dynamic_symbols(file, facts(tmp_path / NEW))
    assert library.defines("inner_1", "INNER_1")
    assert not library.defines("inner_1", "INNER_2")
    assert library.defines("inner_2")
    assert not library.defines("outer")


def test_symbols_of_a_sample() -> None:
    data = Sample(symbols=("first", "second")).build()
    symbols = read_dynamic_symbols(io.BytesIO(data), read_elf(io.BytesIO(data), "sample.so"))
    assert (set(symbols.defined), symbols.needed) == ({"first", "second"}, ())
