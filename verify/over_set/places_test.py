"""Tests of following paths through links."""

from verify.over_set.places import Places, inside

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
