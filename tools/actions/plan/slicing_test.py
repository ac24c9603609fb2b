"""Tests of thin packages' plans: which device code a library keeps, whose a data file is, and what stops the build."""

from dataclasses import replace

import pytest

from develop.testing.artifacts import file, library, link, plan
from lib.common.program import ToolError
from lib.gpus.families import is_target, package_owner
from lib.plan.model import BUNDLE, Definition, Entry, Found, Plan, Slice, Treatment
from tools.actions.plan.slicing import other_target

ALL = ("gfx1030", "gfx906", "gfx90a")


def definition(*targets: str, left_out: tuple[str, ...] = ()) -> Definition:
    name = "_".join(targets)
    return Definition(f"libraries_{name}", "runtime", f"_{name}", per_target=True, slice=Slice(targets, ALL, left_out))


def fat(path: str, *targets: str, refusal: str | None = None) -> Found:
    found = library(path, path.rpartition("/")[2])
    assert found.facts
    return replace(found, facts=replace(found.facts, device=targets, device_refusal=refusal))


def entries(package: Definition, *found: Found, builds_on: tuple[Plan, ...] = ()) -> dict[str, Entry]:
    return {entry.path: entry for entry in plan(package, *found, builds_on=builds_on).entries}


def test_a_library_keeps_the_code_of_the_packages_targets() -> None:
    planned = entries(definition("gfx1030"), fat("lib/liba.so.1", *ALL), library("lib/libhost.so.1", "libhost.so.1"))
    entry = planned["lib/liba.so.1"]
    assert (entry.treatment, entry.slice, entry.absent) == (Treatment.PATCH, ("gfx1030",), None)
    assert entry.reason == "library under its SONAME; device code for gfx1030"
    assert planned["lib/libhost.so.1"].slice is None
    grouped = entries(definition("gfx1030", "gfx90a"), fat("lib/liba.so.1", *ALL))
    assert grouped["lib/liba.so.1"].slice == ("gfx1030", "gfx90a")


def test_a_copy_of_a_link_is_sliced_as_well() -> None:
    found = (replace(fat("lib/liba.so.1", *ALL), path="lib/liba.so.1.2"), link("lib/liba.so.1", "liba.so.1.2"))
    entry = entries(definition("gfx90a"), *found)["lib/liba.so.1"]
    assert (entry.treatment, entry.slice) == (Treatment.COPY_OF_LINK, ("gfx90a",))


def test_a_file_of_nothing_but_code_is_sliced_or_goes_to_others() -> None:
    """One file of hipBLASLt for eight targets, and its name says none."""
    path = "lib/hipblaslt/library/hipblasltTransform.hsaco"
    found = file(path, BUNDLE)
    assert found.facts
    code = replace(found, facts=replace(found.facts, device=("gfx90a:xnack+", "gfx90a:xnack-", "gfx906")))
    kept = entries(definition("gfx90a", "gfx1030"), code)[path]
    assert (kept.treatment, kept.slice, kept.absent) == (Treatment.PATCH, ("gfx90a", "gfx1030"), ("gfx1030",))
    other = entries(definition("gfx1030"), code)[path]
    assert (other.treatment, other.slice) == (Treatment.OTHER_TARGET, None)
    assert other.reason == "device code for gfx90a:xnack+, gfx90a:xnack-, gfx906 alone"
    with pytest.raises(ToolError, match=f"  gfx1011: in {path}"):
        entries(definition("gfx1030"), replace(code, facts=replace(found.facts, device=("gfx1011",))))


def test_code_for_a_target_of_no_package_stops_the_build() -> None:
    with pytest.raises(ToolError) as caught:
        entries(definition("gfx1030"), fat("lib/liba.so.1", *ALL, "gfx1011"))
    assert str(caught.value) == (
        "there is device code for GPU targets that none of the packages is for:\n"
        "  gfx1011: in lib/liba.so.1\n"
        "The packages are for gfx1030, gfx906, gfx90a. Add packages for gfx1011, or name them in `left_out`"
    )


def test_an_option_that_leaves_targets_out_is_named_instead_of_the_attribute() -> None:
    declared = Slice(("gfx1030",), ALL, left_out_option="--//wheels:left_out")
    with pytest.raises(ToolError) as caught:
        entries(replace(definition("gfx1030"), slice=declared), fat("lib/liba.so.1", *ALL, "gfx1011", "gfx803"))
    assert str(caught.value).endswith("Add packages for gfx1011, gfx803, or set --//wheels:left_out=gfx1011,gfx803")


@pytest.mark.parametrize(
    ("code", "targets"),
    [
        ("gfx1011", ["gfx1011"]),
        ("gfx942:xnack+", ["gfx942"]),
        ("gfx1250-strict", ["gfx1250"]),
        ("gfx9-4-generic", ["gfx942", "gfx950"]),
        ("gfx13-generic", ["gfx1310"]),
    ],
)
def test_what_is_advised_is_accepted_and_helps(code: str, targets: list[str]) -> None:
    """Packages and `left_out` are for targets: no generic processor, no target of another's package."""
    found = fat("lib/liba.so.1", *ALL, code)
    with pytest.raises(ToolError) as caught:
        entries(definition("gfx1030"), found)
    advice = str(caught.value).splitlines()[-1]
    assert advice.endswith(f"Add packages for {', '.join(targets)}, or name them in `left_out`")
    assert all(is_target(one) and package_owner(one) == one for one in targets)
    for one in targets:
        entries(definition("gfx1030", left_out=(one,)), found)
    with_package = Slice(("gfx1030",), (*ALL, targets[0]))
    entries(replace(definition("gfx1030"), slice=with_package), found)


def test_of_names_that_no_gpu_has_the_files_are_to_be_excluded() -> None:
    found = (file("lib/K_gfx9.co"), file("lib/K_gfx000.co"), file("lib/K_gfx1011.co"))
    with pytest.raises(ToolError) as caught:
        entries(definition("gfx1030"), *found)
    assert str(caught.value).splitlines()[-1] == (
        "The packages are for gfx1030, gfx906, gfx90a. Add packages for gfx1011, or name them in `left_out`. No GPU "
        "target is called gfx000 or gfx9: exclude such files from the packages (`exclude`), or name them in `left_out`"
    )
    with pytest.raises(ToolError) as caught:
        entries(definition("gfx1030"), found[0])
    assert "Add packages" not in str(caught.value)
    entries(definition("gfx1030", left_out=("gfx9",)), found[0])


def test_all_that_is_refused_is_said_at_once() -> None:
    found = [fat(f"lib/lib{name}.so.1", *ALL, "gfx1011") for name in "abcde"]
    found += [fat("lib/libf.so.1", "gfx803", "gfx942:xnack+"), fat("lib/libg.so.1", "other-thing")]
    found += [fat("lib/libh.so.1", refusal="libh.so.1: damaged"), file("lib/a/K_gfx803.co"), file("lib/a/K")]
    with pytest.raises(ToolError) as caught:
        entries(definition("gfx1030"), *found)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("libraries_gfx1030_lib_generic/stage/lib/libg.so.1: target ID 'other-thing': expected a")
    assert lines[0].endswith("It cannot be told which GPUs load such code")
    assert lines[1] == "libh.so.1: damaged. Its device code cannot be sliced: exclude the file from the package"
    assert lines[3:6] == [
        "  gfx1011: in lib/liba.so.1, lib/libb.so.1, lib/libc.so.1 and 2 more",
        "  gfx803: in lib/a/K_gfx803.co, lib/libf.so.1",
        "  gfx942:xnack+: in lib/libf.so.1",
    ]
    assert lines[6].endswith("Add packages for gfx1011, gfx803, gfx942, or name them in `left_out`")
    assert len(lines) == 7


def test_what_a_package_excludes_is_not_refused() -> None:
    package = replace(definition("gfx1030"), exclude=("lib/libb*",))
    found = (fat("lib/liba.so.1", *ALL), fat("lib/libb.so.1", "gfx1011"))
    assert entries(package, *found)["lib/libb.so.1"].treatment is Treatment.DROP


def test_code_that_cannot_be_read() -> None:
    with pytest.raises(ToolError, match=r"damaged\. Its device code cannot be sliced: exclude the file"):
        entries(definition("gfx1030"), fat("lib/liba.so.1", refusal="liba.so.1: damaged"))


def test_what_is_left_out_is_no_error() -> None:
    left_out = entries(definition("gfx1030", left_out=("gfx1011",)), fat("lib/liba.so.1", *ALL, "gfx1011"))
    assert left_out["lib/liba.so.1"].slice == ("gfx1030",)


def test_a_file_without_code_for_the_package_says_so() -> None:
    found = (fat("lib/liba.so.1", *ALL), fat("lib/libb.so.1", "gfx906", "gfx90a"))
    planned = entries(definition("gfx1030"), *found)
    assert (planned["lib/liba.so.1"].absent, planned["lib/libb.so.1"].absent) == (None, ("gfx1030",))
    assert planned["lib/liba.so.1"].reason == "library under its SONAME; device code for gfx1030"
    assert planned["lib/libb.so.1"].reason == (
        "library under its SONAME; without its device code; there is none for gfx1030"
    )
    group = entries(definition("gfx1030", "gfx90a"), *found)["lib/libb.so.1"]
    assert (group.slice, group.absent) == (("gfx1030", "gfx90a"), ("gfx1030",))
    assert group.reason == "library under its SONAME; device code for gfx90a; there is none for gfx1030"


def test_features_and_generic_code() -> None:
    found = fat("lib/liba.so.1", "gfx90a:xnack+", "gfx90a:xnack-", "gfx10-3-generic", "gfx9-generic")
    for target in ALL:
        assert entries(definition(target), found)["lib/liba.so.1"].slice == (target,)


FILES = ("lib/k/K.dat", "lib/k/K_gfx906.co", "lib/k/K_gfx90a-xnack+.co", "lib/k/gfx90a68.kdb", "lib/gfx1030/K.dat")


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("gfx1030", ["lib/gfx1030/K.dat", "lib/k/K.dat"]),
        ("gfx906", ["lib/k/K.dat", "lib/k/K_gfx906.co"]),
        ("gfx90a", ["lib/k/K.dat", "lib/k/K_gfx90a-xnack+.co", "lib/k/gfx90a68.kdb"]),
    ],
)
def test_files_go_to_the_target_that_they_name(target: str, kept: list[str]) -> None:
    planned = entries(definition(target), *(file(path) for path in FILES))
    assert [path for path, entry in planned.items() if entry.is_packed_file] == kept
    others = [entry for path, entry in planned.items() if path not in kept]
    assert {entry.treatment for entry in others} == {Treatment.OTHER_TARGET}


def test_a_damaged_file_stops_the_packages_that_its_path_is_for() -> None:
    found = file("lib/gfx906/libk.so.1", "elf-damaged")
    assert found.facts
    found = replace(found, facts=replace(found.facts, damage="lib/gfx906/libk.so.1: truncated"))
    links = (link("lib/libk.so.1", "gfx906/libk.so.1"), link("lib/gfx1030/libk.so.1", "../gfx906/libk.so.1"))
    planned = entries(definition("gfx1030"), found, *links)
    assert {entry.treatment for entry in planned.values()} == {Treatment.OTHER_TARGET}
    with pytest.raises(ToolError, match=r"^lib/gfx906/libk\.so\.1: truncated\. "):
        entries(definition("gfx906"), found)


def test_a_file_for_two_targets_goes_to_both() -> None:
    path = "lib/K_gfx1030_gfx906.co"
    for target in ("gfx1030", "gfx906"):
        assert other_target(path, Slice((target,), ALL)) is None
    assert other_target(path, Slice(("gfx90a",), ALL)) == "for gfx1030, gfx906, as its name says"
    with pytest.raises(ToolError, match=r"  gfx1011: in lib/K_gfx1011_gfx906\.co"):
        other_target("lib/K_gfx1011_gfx906.co", Slice(("gfx906",), ALL))


def test_a_name_that_contradicts_the_code_stops_the_build() -> None:
    """Else the code would be in no package: its target's package has no file of such a name."""
    path = "lib/K_gfx906.co"
    code = replace(fat(path, "gfx90a", "gfx906"), path=path)
    for target in ALL:
        with pytest.raises(ToolError) as caught:
            entries(definition(target), code)
        assert str(caught.value) == (
            f"libraries_{target}_lib_generic/stage/{path}: its name says that it is for gfx906, but it has device code "
            "for gfx90a, too, which would be in no package. Rename the file, or exclude it from the packages"
        )
    entries(definition("gfx906"), fat(path, "gfx906", "gfx9-generic", "gfx906:xnack-", "amdgcnspirv"))
    entries(definition("gfx906", left_out=("gfx1011",)), fat(path, "gfx906", "gfx1011"))


def test_a_link_goes_where_its_file_goes() -> None:
    found = (file("lib/K_gfx906.dat"), link("lib/K.dat", "K_gfx906.dat"))
    assert entries(definition("gfx906"), *found)["lib/K.dat"].treatment is Treatment.COPY_OF_LINK
    other = entries(definition("gfx1030"), *found)["lib/K.dat"]
    assert (other.treatment, other.reason) == (
        Treatment.OTHER_TARGET,
        "link to lib/K_gfx906.dat, for gfx906, as its name says",
    )
    bundle = file("lib/a.hsaco", BUNDLE)
    assert bundle.facts
    code = replace(bundle, facts=replace(bundle.facts, device=("gfx906",)))
    other = entries(definition("gfx1030"), code, link("lib/b.hsaco", "a.hsaco"))["lib/b.hsaco"]
    assert (other.treatment, other.reason) == (
        Treatment.OTHER_TARGET,
        "link to lib/a.hsaco, device code for gfx906 alone",
    )


def test_a_package_has_the_files_of_the_targets_that_it_owns() -> None:
    known = ("gfx1250", "gfx1201")
    assert other_target("lib/K_gfx1250-strict.co", Slice(("gfx1250",), known)) is None
    assert other_target("lib/K_gfx1250-strict.co", Slice(("gfx1201",), known)) == "for gfx1250-strict, as its name says"


def test_targets_with_features_have_files_as_well() -> None:
    on, off = (Slice((target,), ("gfx942:xnack+", "gfx942:xnack-")) for target in ("gfx942:xnack+", "gfx942:xnack-"))
    assert other_target("lib/gfx942130.kdb", on) is other_target("lib/gfx942130.kdb", off) is None
    assert other_target("lib/K-gfx942-xnack+.co", on) is None
    assert other_target("lib/K-gfx942-xnack+.co", off) == "for gfx942:xnack+, as its name says"
    with pytest.raises(ToolError, match=r"gfx942:xnack-: in lib/K-gfx942-xnack-\.co"):
        other_target("lib/K-gfx942-xnack-.co", Slice(("gfx942:xnack+",), ("gfx942:xnack+",)))


def test_a_file_for_an_unknown_target_stops_the_build() -> None:
    with pytest.raises(ToolError, match=r"gfx1011: in lib/K_gfx1011\.co"):
        entries(definition("gfx1030"), file("lib/K_gfx1011.co"))
    with pytest.raises(ToolError, match=r"gfx11-generic: in lib/K_gfx11-generic\.co"):
        entries(definition("gfx1030"), file("lib/K_gfx11-generic.co"))
    planned = entries(definition("gfx1030", left_out=("gfx1011",)), file("lib/K_gfx1011.co"))
    assert planned["lib/K_gfx1011.co"].reason == "for gfx1011, as its name says"


def test_devel_has_nothing_of_its_own_that_is_for_a_target() -> None:
    found = (fat("lib/liba.so.1", *ALL, "gfx1011"), file("lib/K_gfx906.co"), file("lib/K_gfx1011.co"), file("lib/K"))
    thin = tuple(plan(definition(target, left_out=("gfx1011",)), *found) for target in ALL)
    planned = entries(Definition("devel", "devel", "_devel"), *found, file("include/a.h"), builds_on=thin)
    assert [path for path, entry in planned.items() if entry.treatment is not Treatment.DROP] == ["include/a.h"]
    assert planned["lib/K_gfx1011.co"].reason == "for a GPU target that no package is for"
    assert "libraries_gfx906, if that is installed" in planned["lib/K_gfx906.co"].reason


def test_devel_has_links_to_directories_whose_names_say_a_target() -> None:
    found = (link("lib/gfx906", "k"), file("lib/k/a.dat"), link("lib/gfx1011", "k"))
    thin = tuple(plan(definition(target, left_out=("gfx1011",)), *found) for target in ALL)
    planned = entries(Definition("devel", "devel", "_devel"), *found, builds_on=thin)
    assert [planned[path].treatment for path in ("lib/gfx906", "lib/gfx1011")] == [Treatment.LINK_TO] * 2


def test_a_forwarder_holds_no_device_code() -> None:
    planned = entries(definition("gfx1030"), fat("lib/liba.so.1", *ALL))
    assert planned["lib/liba.so"].treatment is Treatment.FORWARDER
    assert (planned["lib/liba.so.1"].slice, planned["lib/liba.so"].slice) == (("gfx1030",), None)
