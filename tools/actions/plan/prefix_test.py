"""Tests of merging artifacts and of following links."""

from dataclasses import replace

import pytest

from develop.testing.artifacts import artifact, directory, file, library, link, plan
from lib.common.program import ToolError
from lib.plan.model import Definition, Entry, Found, Kind, Plan, Treatment
from tools.actions.plan.prefix import MAX_LINKS, Prefix, merge
from tools.actions.plan.tool import make_plan

CORE = Definition("core", "runtime", "_core")


def prefix(*found: Found, builds_on: tuple[Plan, ...] = ()) -> Prefix:
    merged, _ = merge([artifact("a_lib_generic", *found)])
    return Prefix(merged, list(builds_on))


def end(laid: Prefix, path: str) -> str | None:
    resolved = laid.resolve(path)
    return resolved.path if resolved else None


def test_links_are_followed_through_chains_and_directories() -> None:
    laid = prefix(
        link("lib/libx.so", "libx.so.1"),
        link("lib/libx.so.1", "./libx.so.1.2"),
        file("lib/libx.so.1.2"),
        link("llvm", "lib/llvm"),
        file("lib/llvm/bin/clang-20"),
        link("lib/llvm/bin/clang", "clang-20"),
        link("bin/clang++", "../llvm/bin/clang"),
        link("bin/deep", "../llvm/../libx.so"),
    )
    assert end(laid, "lib/libx.so") == "lib/libx.so.1.2"
    assert end(laid, "bin/clang++") == "lib/llvm/bin/clang-20"
    # `..` behind a link to a directory leaves the directory that it leads to, as in the kernel.
    assert end(laid, "bin/deep") == "lib/libx.so.1.2"
    assert end(laid, "lib/llvm/bin/clang-20") == "lib/llvm/bin/clang-20"


def test_directories_are_found_with_and_without_an_entry() -> None:
    laid = prefix(
        directory("empty"), file("a/b/c"), link("d", "a/b"), link("e", "empty"), link("f", "empty/../a"), link("g", ".")
    )
    kinds = {path: resolved.node.kind for path in "defg" if (resolved := laid.resolve(path))}
    assert kinds == dict.fromkeys("defg", Kind.DIRECTORY)
    assert [end(laid, path) for path in "defg"] == ["a/b", "empty", "a", ""]


@pytest.mark.parametrize(
    "text", ["nowhere", "../../out", "/etc/passwd", "me", "file/below", "nowhere/../file", "file/../file"]
)
def test_links_that_lead_nowhere(text: str) -> None:
    assert end(prefix(link("lib/me", text), file("lib/file")), "lib/me") is None


def test_loops_end_as_in_the_kernel() -> None:
    assert end(prefix(link("a", "b"), link("b", "a")), "a") is None
    links = [link(f"l{number}", f"l{number + 1}") for number in range(MAX_LINKS)]
    assert end(prefix(*links, file(f"l{MAX_LINKS}")), "l0") == f"l{MAX_LINKS}"
    assert end(prefix(link("start", "l0"), *links, file(f"l{MAX_LINKS}")), "start") is None


def test_packages_built_on_are_below_the_own_entries() -> None:
    core = plan(CORE, library("lib/liba.so.1", "liba.so.1"), file("share/both"), link("dir", "lib"))
    laid = prefix(link("lib/liba.so", "liba.so.1"), link("x", "dir/liba.so"), file("share/both"), builds_on=(core,))
    resolved = laid.resolve("x")
    assert resolved
    assert (resolved.path, resolved.node.plan, resolved.facts) == ("lib/liba.so.1", core, None)
    own = laid.resolve("share/both")
    assert own
    assert own.node.plan is None
    assert own.facts


def test_what_a_package_leaves_out_is_not_there() -> None:
    core = plan(
        Definition("core", "runtime", "_core", exclude=("lib/liba.so.1",)), library("lib/liba.so.1", "liba.so.1")
    )
    assert core.entries[0].treatment is Treatment.DROP
    assert end(prefix(link("lib/liba.so", "liba.so.1"), builds_on=(core,)), "lib/liba.so") is None


def test_what_one_package_leaves_out_another_may_have() -> None:
    dropped = Entry("lib/a", Kind.LINK, Treatment.DROP, "", "", link="nowhere")
    kept = Entry("lib/a", Kind.FILE, Treatment.KEEP, "", "")
    for entries in ((dropped, kept), (kept, dropped)):
        plans = tuple(Plan(f"p{n}", f"_p{n}", per_target=False, entries=(entry,)) for n, entry in enumerate(entries))
        assert end(prefix(link("b", "lib/a"), builds_on=plans), "b") == "lib/a"


def test_the_first_artifact_in_sorted_order_has_a_shared_path() -> None:
    one, two = (
        artifact("one_lib_generic", file("f"), link("l", "f")),
        artifact("two_lib_generic", file("f"), link("l", "f")),
    )
    merged, equal = merge([two, one])
    assert {found.source for found in merged.values()} == {"one_lib_generic/stage/f", "one_lib_generic/stage/l"}
    assert equal == [("one_lib_generic/stage/f", "two_lib_generic/stage/f")]


@pytest.mark.parametrize(
    ("first", "second", "described"),
    [
        (file("f", size=1), file("f", size=2), ("file of 1 bytes", "file of 2 bytes")),
        (link("f", "a"), link("f", "b"), ("link to a", "link to b")),
        (file("f"), link("f", "a"), ("file of 1 bytes", "link to a")),
        (directory("f"), link("f", "a"), ("directory", "link to a")),
    ],
)
def test_artifacts_that_differ_are_both_named(first: Found, second: Found, described: tuple[str, str]) -> None:
    with pytest.raises(ToolError) as error:
        merge([artifact("one_lib_generic", first), artifact("two_lib_generic", second)])
    assert str(error.value) == (
        f"f: one_lib_generic/stage/f ({described[0]}) and two_lib_generic/stage/f ({described[1]}) differ, but go to "
        "one package; expected equal content. Remove one of them, or give it another name, or exclude the path"
    )


def test_directories_may_have_different_modes() -> None:
    merged, equal = merge([artifact("a_lib_x", directory("d", "0755")), artifact("b_lib_x", directory("d", "0700"))])
    assert (merged["d"].mode, equal) == ("0755", [])


@pytest.mark.parametrize("modes", [("0644", "0755", "0644"), ("0755", "0644", "0644"), ("0644", "0644", "0755")])
def test_a_file_is_executable_if_one_artifact_says_so(modes: tuple[str, str, str]) -> None:
    """Whichever comes first; a link to it then is a launcher, not a copy that nobody can run."""
    tools = [artifact(f"{n}_run_x", file("bin/tool", "script", mode)) for n, mode in enumerate(modes)]
    merged, equal = merge(tools)
    assert (merged["bin/tool"].source, merged["bin/tool"].mode) == ("0_run_x/stage/bin/tool", "0755")
    assert equal == [("0_run_x/stage/bin/tool", f"{n}_run_x/stage/bin/tool") for n in (1, 2)]
    planned = make_plan(CORE, [*tools, artifact("a_run_x", link("bin/link", "tool"))], [])
    assert [(entry.path, entry.treatment, entry.mode) for entry in planned.entries] == [
        ("bin/link", Treatment.LAUNCHER, "0755"),
        ("bin/tool", Treatment.KEEP, "0755"),
    ]


@pytest.mark.parametrize("above", [file("llvm"), link("llvm", "lib/llvm")])
def test_a_path_below_something_that_is_no_directory(above: Found) -> None:
    with pytest.raises(
        ToolError, match=r"^llvm/bin/x: from b_lib_x/stage/llvm/bin/x, but a_lib_x/stage/llvm \((file|link)"
    ):
        merge([artifact("a_lib_x", above), artifact("b_lib_x", file("llvm/bin/x"))])


def test_what_a_package_excludes_may_differ() -> None:
    one = artifact("a_lib_generic", file("version.json"), link("lib64", "lib"), file("lib/x"))
    other = artifact("b_lib_generic", file("version.json", size=9), file("lib64/y"))
    planned = make_plan(replace(CORE, exclude=("version.json", "lib64/**", "lib64")), [one, other], [])
    assert {entry.path for entry in planned.entries if entry.is_packed_file} == {"lib/x"}
    with pytest.raises(ToolError, match=r"give it another name, or exclude the path$"):
        make_plan(CORE, [one, other], [])


def test_what_equals_the_same_is_equal() -> None:
    plans = [replace(plan(CORE), equal_sources=pairs) for pairs in ((("a", "b"), ("c", "d")), (("d", "b"),))]
    laid = Prefix({}, plans, [("e", "f")])
    assert all(laid.is_same("a", other) for other in "abcd")
    assert laid.is_same("e", "f")
    assert not laid.is_same("a", "e")
    assert not laid.is_same("a", "g")
