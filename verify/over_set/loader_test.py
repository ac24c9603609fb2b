"""Tests of the loader's rules, one each."""

from dataclasses import replace

from tools.lib.elf import constants as c
from verify.over_set.loader import Loader, expanded
from verify.over_set.model import Linked
from verify.over_set.places import Places


def library(path: str, *needed: str, rpath: str = "", runpath: str = "", soname: str = "") -> Linked:
    """Make a record; the SONAME is the file's name unless given."""
    own, others = (tuple(text.split(":")) if text else () for text in (rpath, runpath))
    return Linked(path, 64, c.EM_X86_64, soname or path.rpartition("/")[2], needed, own, others)


def loader(*libraries: Linked) -> Loader:
    """Make a loader of files; the system has libc."""
    linked = {one.path: one for one in libraries}
    return Loader(linked, Places(linked, {}), lambda name: name == "libc.so.6")


def test_the_rpath_of_those_who_load_counts() -> None:
    made = loader(
        library("one/liba.so", "libb.so", rpath="$ORIGIN:$ORIGIN/../two"),
        library("one/libb.so", "libc1.so", "libc.so.6"),
        library("two/libc1.so"),
    )
    loading = made.load("one/liba.so")
    assert loading.missing == ()
    assert loading.found["one/libb.so", "libc1.so"] == "two/libc1.so"
    assert loading.found["one/libb.so", "libc.so.6"] is None
    (missing,) = made.load("one/libb.so").missing
    assert (missing.object, missing.name, missing.tried) == ("one/libb.so", "libc1.so", ())


def test_a_runpath_serves_only_its_own_file_and_turns_the_others_off() -> None:
    made = loader(
        library("one/liba.so", "libb.so", rpath="$ORIGIN:$ORIGIN/../two"),
        library("one/libb.so", "libc1.so", runpath="$ORIGIN"),
        library("two/libc1.so"),
    )
    (missing,) = made.load("one/liba.so").missing
    assert (missing.object, missing.name, missing.tried) == ("one/libb.so", "libc1.so", ("one",))


def test_what_is_loaded_serves_by_its_soname() -> None:
    made = loader(
        library("one/liba.so", "libb.so.1", "libc1.so", rpath="$ORIGIN"),
        library("one/libb.so.1", soname="libother.so"),
        library("one/libc1.so", "libother.so"),
    )
    assert made.load("one/liba.so").found["one/libc1.so", "libother.so"] == "one/libb.so.1"
    assert [missing.name for missing in made.load("one/libc1.so").missing] == ["libother.so"]


def test_files_for_other_cpus_are_passed_over() -> None:
    other = replace(library("one/libb.so"), machine=c.EM_AARCH64)
    made = loader(library("one/liba.so", "libb.so", rpath="$ORIGIN:$ORIGIN/../two"), other, library("two/libb.so"))
    assert made.load("one/liba.so").found["one/liba.so", "libb.so"] == "two/libb.so"


def test_libraries_that_need_each_other() -> None:
    made = loader(library("one/liba.so", "libb.so", rpath="$ORIGIN"), library("one/libb.so", "liba.so"))
    assert made.load("one/liba.so").missing == ()


def test_a_name_with_a_slash_is_a_path() -> None:
    made = loader(library("one/liba.so", "$ORIGIN/deep/libb.so", "deep/libc1.so"), library("one/deep/libb.so"))
    loading = made.load("one/liba.so")
    assert loading.found == {("one/liba.so", "$ORIGIN/deep/libb.so"): "one/deep/libb.so"}
    assert [missing.name for missing in loading.missing] == ["deep/libc1.so"]


def test_entries_that_depend_on_the_machine_lead_nowhere() -> None:
    assert expanded("$ORIGIN/../lib", "one/bin/program") == "one/bin/../lib"
    assert expanded("${ORIGIN}", "one/bin/program") == "one/bin"
    for entry in ("/opt/rocm/lib", "", "lib", "$ORIGIN/$LIB", "${PLATFORM}/lib", "$ORIGINS/lib", "$ORIGIN/../../.."):
        assert expanded(entry, "one/bin/program") is None, entry
