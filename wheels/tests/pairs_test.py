"""Wheels of any maker that have two of everything: packages, libraries, bundles, targets, platforms.

They are made here, so that these tests need nothing that Bazel builds.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from develop.testing.tiny_elf import program
from lib.elf import constants as c
from lib.pack.stand_ins import SECTION
from wheels.tests.libraries import fat, offload_bundle, with_segment
from wheels.tests.planted_set import small_wheel, windows_launcher
from wheels.verify.engine import Request, verify
from wheels.verify.finding import Finding
from wheels.verify.wheel_set.loader import outward
from wheels.verify.wheel_set.model import DevelTree

LINUX = "py3-none-manylinux_2_17_x86_64"


def findings(directory: Path) -> tuple[Finding, ...]:
    """Verify a set."""
    return verify([directory], Request()).judged.findings


def built(name: str, files: Mapping[str, bytes], tag: str = LINUX) -> tuple[str, bytes]:
    """Return a wheel's file name and bytes."""
    made = small_wheel(name, dict(files), tag)
    return made.name, made.build()


def wheel(name: str, *libraries_with: tuple[str, Sequence[str]], files: Sequence[str] = ()) -> tuple[str, bytes]:
    """Return a wheel of another maker's: names of libraries with the targets of their code, and other files."""
    content = {f"_{name}/{path}": b"data" for path in files}
    for library, targets in libraries_with:
        content[f"_{name}/{library}"] = fat(library, [offload_bundle(targets)])
    return built(name, content)


def verified(directory: Path, *wheels: tuple[str, bytes]) -> list[tuple[str, str, str]]:
    """Verify wheels alone, without a selector."""
    directory.mkdir()
    for name, content in wheels:
        (directory / name).write_bytes(content)
    return [(one.id, one.wheel.split("-")[0], one.file) for one in findings(directory)]


def test_wheels_alone_are_for_what_their_names_say(tmp_path: Path) -> None:
    good = wheel("kernels_gfx942", ("liba.so", ["gfx942:xnack+", "gfx942:xnack-"]), files=["a_gfx942.co"])
    assert verified(tmp_path / "good", good) == []
    bad = wheel("kernels_gfx942", ("liba.so", ["gfx942", "gfx90a"]), ("libb.so", ["gfx90a"]), files=["a_gfx90a.co"])
    assert verified(tmp_path / "bad", bad) == [
        ("D101", "kernels_gfx942", "_kernels_gfx942/libb.so"),
        ("D105", "kernels_gfx942", "_kernels_gfx942/a_gfx90a.co"),
        ("D107", "kernels_gfx942", "_kernels_gfx942/liba.so"),
    ]


def test_peers_alone_are_compared(tmp_path: Path) -> None:
    one = wheel("kernels_gfx942", ("liba.so", ["gfx942"]), ("libb.so", ["gfx942"]), ("libk_gfx942.so", ["gfx942"]))
    other = wheel("kernels_gfx1030", ("liba.so", ["gfx1030"]), ("libk_gfx1030.so", ["gfx1030"]))
    stranger = wheel("tools_gfx1030", ("libtool.so", ["gfx1030"]))
    assert verified(tmp_path / "dist", one, other, stranger) == [
        ("D108", "kernels_gfx1030", "_kernels_gfx1030/libb.so")
    ]


def test_a_wheel_for_all_is_for_all(tmp_path: Path) -> None:
    assert verified(tmp_path / "dist", wheel("kernels", ("liba.so", ["gfx942", "gfx1030"]))) == []


def test_a_family_by_name_may_have_more(tmp_path: Path) -> None:
    codes = ["gfx900", "gfx90a:xnack+", "gfx90a:xnack-", "gfx1030"]
    family = wheel("rocm_sdk_libraries_gfx9_all", ("liba.so", codes), ("libb.so", [*codes, "gfx1100"]))
    assert verified(tmp_path / "dist", family) == []


def test_a_group_of_the_thin_layout_has_no_more(tmp_path: Path) -> None:
    """The selector tells the layout: there a package for a family is sliced as well."""
    name = "rocm_sdk_libraries_gfx110X_all"
    made = small_wheel(name, {f"_{name}/liba.so": fat("liba.so", [offload_bundle(["gfx1100", "gfx942"])])}, LINUX)
    packages = {"libraries": {"distribution": "rocm-sdk-libraries-{target}", "tree": "_rocm_sdk_libraries_{target}"}}
    known = {"version": "1.0", "targets": ["gfx110X-all"], "default_target": "gfx110X-all", "packages": packages}
    for layout, expected in (("thin", ["D107"]), ("family", [])):
        text = json.dumps(known | {"layout": layout}).encode()
        selector = small_wheel("rocm", {"rocm_sdk/__init__.py": b"", "rocm_sdk/_distributions.json": text})
        found = verified(tmp_path / layout, (made.name, made.build()), (selector.name, selector.build()))
        assert [one[0] for one in found if one[0].startswith("D")] == expected


def selector(layout: str, *targets: str) -> tuple[str, bytes]:
    """Return the static wheel of a selector that offers libraries for these targets."""
    names = {"distribution": "rocm-sdk-libraries-{target}", "tree": "_rocm_sdk_libraries_{target}"}
    known = {"version": "1.0", "targets": targets, "default_target": targets[0], "packages": {"libraries": names}}
    text = json.dumps(known | {"layout": layout}).encode()
    made = small_wheel("rocm", {"rocm_sdk/__init__.py": b"", "rocm_sdk/_distributions.json": text})
    return made.name, made.build()


def test_a_family_that_one_of_two_libraries_serves_is_no_useless_one(tmp_path: Path) -> None:
    families = ("gfx94X-dcgpu", "gfx110X-all")
    trees = [f"rocm_sdk_libraries_{family.replace('-', '_')}" for family in families]
    made = [wheel(name, files=["share/notes"]) for name in trees]
    one = wheel("math", ("liba.so", ["gfx1100", "gfx942"]), ("libb.so", ["gfx942"]))
    offered = selector("family", *families)
    assert verified(tmp_path / "one", offered, *made, one) == [("D108", "math", "_math/libb.so")]
    none = wheel("math", ("liba.so", ["gfx942"]), ("libb.so", ["gfx942"]))
    assert verified(tmp_path / "none", offered, *made, none) == [("D110", "", "")]


def test_a_tree_of_two_packages_for_a_target_each(tmp_path: Path) -> None:
    """A library of the one is no library of the other, nor a second copy of it; each lacks the other's target."""
    made = []
    for target in ("gfx942", "gfx1100"):
        name = f"libk_{target}_.so"
        files = {f"_kernels/{name}": fat(name, [offload_bundle([target]), offload_bundle([target])])}
        made.append(built(f"kernels_{target}", files))
    assert verified(tmp_path / "dist", *made) == [
        ("D108", "kernels_gfx1100", "_kernels/libk_gfx1100_.so"),
        ("D108", "kernels_gfx942", "_kernels/libk_gfx942_.so"),
    ]


def test_a_target_that_only_the_second_bundle_lacks(tmp_path: Path) -> None:
    files = {"_math/liba.so": fat("liba.so", [offload_bundle(["gfx942", "gfx1100"]), offload_bundle(["gfx942"])])}
    assert verified(tmp_path / "dist", built("math", files)) == [("D103", "math", "_math/liba.so")]


def test_two_packages_that_are_missing_of_which_one_is_for_the_default_target(tmp_path: Path) -> None:
    verified(tmp_path / "dist", selector("family", "gfx942", "gfx1100"))
    found = [(one.id, one.said) for one in findings(tmp_path / "dist") if one.id == "S138"]
    assert found == [("S138", "gfx942: the set has no rocm-sdk-libraries-gfx942")]


@pytest.mark.parametrize("tag", [LINUX, "py3-none-win_amd64"])
def test_a_launcher_starts_a_launcher_that_starts_nothing(tag: str, tmp_path: Path) -> None:
    def launcher(target: str) -> bytes:
        return windows_launcher(target) if "win" in tag else program(SECTION, target.encode().ljust(64, b"\0"))

    base = built("base", {"_base/bin/a.exe": launcher("b.exe"), "_base/bin/b.exe": launcher("gone.exe")}, tag)
    assert [one[:2] for one in verified(tmp_path / "dist", base)][-1:] == [("S124", "base")]
    assert "_base/bin/b.exe" in {one.file for one in findings(tmp_path / "dist") if one.id == "S124"}


def test_headers_of_debug_information_are_not_those_of_the_library(tmp_path: Path) -> None:
    """`eu-strip -f` leaves them as they were; nobody loads them."""
    library = with_segment(Sample(sections=False, soname="liba.so").build(), c.PT_LOAD, flags=c.PF_R | c.PF_W | c.PF_X)
    files = {"_base/liba.so": library, "_base/liba.so.debug": with_segment(library, c.PT_DYNAMIC, filesz=0)}
    assert verified(tmp_path / "dist", built("base", files)) == [("W405", "base", "_base/liba.so")]


def test_a_tree_whose_name_begins_like_the_development_trees_is_another() -> None:
    devel = DevelTree("dev/.devel_links/devel.json", "_dev", {})
    texts = ("b", "../../_dev/b", "../../_dev", "../../_dev_more/b", "../../_core/b")
    assert [outward(devel, "_dev/lib/a", text) for text in texts] == [None, None, None, "_dev_more/b", "_core/b"]


def test_code_in_two_bundles_counts_twice(tmp_path: Path) -> None:
    bundles = [offload_bundle(["gfx942", "gfx90a"]), offload_bundle(["gfx90a", "gfx942"])]
    verified(tmp_path / "dist", built("kernels_gfx942", {"_kernels_gfx942/liba.so": fat("liba.so", bundles)}))
    (finding,) = findings(tmp_path / "dist")
    assert (finding.id, finding.said) == ("D107", "gfx90a: 108 bytes of code that gfx942 cannot load")


def lost(directory: Path, last: Sequence[tuple[str, bytes]], release: Sequence[tuple[str, bytes]]) -> list[str]:
    """Return what R107 says of a release, by library."""
    for folder, wheels in (("last", last), ("release", release)):
        (directory / folder).mkdir(parents=True)
        for name, content in wheels:
            (directory / folder / name).write_bytes(content)
    judged = verify([directory / "release"], Request(last_release=(directory / "last",))).judged
    return [f"{one.file} {' '.join(one.targets)}" for one in judged.findings if one.id == "R107"]


def test_a_release_keeps_the_device_code_of_each_library(tmp_path: Path) -> None:
    both, one = ["gfx90a", "gfx942"], ["gfx90a"]
    last = [wheel("math", ("liba.so.1", both), ("libb.so", both))]
    assert lost(tmp_path / "same", last, last) == []
    less = [wheel("math", ("liba.so.2", both), ("libb.so", one))]
    assert lost(tmp_path / "less", last, less) == ["_math/libb.so gfx942"]
    none = [built("math", {"_math/liba.so.1": Sample(soname="liba.so.1").build(), "_math/libb.so": b""})]
    assert lost(tmp_path / "none", last, none) == ["_math/liba.so.1 gfx90a gfx942", "_math/libb.so gfx90a gfx942"]


def test_a_target_without_any_package_is_not_said_of_each_library(tmp_path: Path) -> None:
    """R101 says it; what moves to another package is not lost."""
    last = [wheel(f"math_{target}", ("liba.so", [target]), ("libb.so", [target])) for target in ("gfx90a", "gfx942")]
    assert lost(tmp_path / "gone", last, last[:1]) == []
    assert lost(tmp_path / "moved", last, [wheel("math", ("liba.so", ["gfx90a", "gfx942"]))]) == []
    less = [*last[:1], wheel("math_gfx942", ("liba.so", ["gfx942"]), ("libb.so", ["gfx90a"]))]
    assert lost(tmp_path / "less", last, less) == ["_math_gfx942/libb.so gfx942"]
