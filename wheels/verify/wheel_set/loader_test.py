"""Tests of the loader's rules, one each."""

from dataclasses import replace

from lib.elf import constants as c
from wheels.verify.wheel_set.loader import Loader, Places, expanded, inside
from wheels.verify.wheel_set.model import Linked


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


FILES = ("dev/lib/libx.so.1", "dev/lib/llvm/bin/clang", "core/lib/libx.so.1")
LINKS = {
    "dev/lib/libx.so": "libx.so.1",
    "dev/llvm": "lib/llvm",
    "dev/bin": "llvm/bin",
    "dev/loop": "pool",
    "dev/pool": "loop",
    "dev/gone": "lib/nothing",
    "dev/out": "../../etc/passwd",
    "dev/absolute": "/etc/passwd",
    "dev/back": "lib/../lib/libx.so",
}
PLACES = Places(FILES, LINKS, ["dev/empty/deep"])


def test_files_and_links_to_them() -> None:
    assert PLACES.find_file("dev/lib/libx.so") == "dev/lib/libx.so.1"
    assert PLACES.find_file("dev/back") == "dev/lib/libx.so.1"
    assert PLACES.find_file("dev/lib/../../core/lib/libx.so.1") == "core/lib/libx.so.1"


def test_through_links_to_directories() -> None:
    assert PLACES.find_file("dev/bin/clang") == "dev/lib/llvm/bin/clang"
    assert PLACES.resolve("dev/llvm") == "dev/lib/llvm"
    assert PLACES.resolve("dev/bin/..") == "dev/lib/llvm"


def test_what_leads_nowhere() -> None:
    paths = (
        "dev/loop",
        "dev/gone",
        "dev/out",
        "dev/absolute",
        "dev/lib/libx.so/more",
        "../dev",
        "nothing",
        "nothing/..",
    )
    for path in paths:
        assert PLACES.resolve(path) is None, path


def test_directories_are_no_files() -> None:
    assert PLACES.resolve("dev/empty/deep") == "dev/empty/deep"
    assert PLACES.find_file("dev/empty/deep") is None
    assert PLACES.find_file("dev/lib") is None


def test_inside() -> None:
    assert inside("a/./b/../c") == "a/c"
    assert inside("a/..") == ""
    assert [inside(path) for path in ("../a", "a/../../b", "/a", "..")] == [None] * 4
