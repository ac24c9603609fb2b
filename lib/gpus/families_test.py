"""Tests of families: which targets each has, by AMD's own table; and who owns a target."""

import pytest
from rocm_bootstrap import all_bundles, bundle_names
from rocm_bootstrap.package_metadata import architectural_family
from rocm_bootstrap.package_metadata import package_owner as amds_owner
from rocm_bootstrap.targets import _BUNDLE_KEY_ALIASES, ALL_TARGETS, PackagingLevel, XnackMode, lookup_bundle

from lib.gpus.families import (
    find_target,
    is_target,
    name_in_distribution,
    overlap,
    package_owner,
    parse_family,
    with_colons,
    without_features,
)
from lib.gpus.table import TARGETS
from lib.gpus.target_id import GENERIC_PROCESSORS

NAMES = [target.name for target in ALL_TARGETS]


def members(name: str) -> list[str]:
    family = parse_family(name)
    assert family is not None, name
    return [target for target in NAMES if family.has(target)]


@pytest.mark.parametrize("level", [PackagingLevel.FAMILY, PackagingLevel.SUB_FAMILY])
def test_families_and_sub_families_are_those_of_rocm_bootstrap(level: PackagingLevel) -> None:
    bundles = {bundle.key: bundle for bundle in all_bundles(level)}
    bundles |= {alias: bundle for alias in _BUNDLE_KEY_ALIASES if (bundle := lookup_bundle(alias)).level is level}
    for key, bundle in bundles.items():
        expected = [target.name for target in bundle.members]
        assert members(key) == members(key.replace("_", "-")) == expected
        assert members(f"{bundle_names(bundle).dist_name}-all") == expected


def test_owners_are_those_of_rocm_bootstrap() -> None:
    assert {name: package_owner(name) for name in NAMES} == {name: amds_owner(name) for name in NAMES}
    assert package_owner("gfx1250-strict") == package_owner("gfx1250-strict:xnack-") == "gfx1250"
    assert package_owner("gfx90a:sramecc+:xnack-") == amds_owner("gfx90a:sramecc+:xnack-") == "gfx90a"
    assert package_owner("gfx110X-all") == "gfx110X-all"


def test_the_table_knows_features() -> None:
    assert {target.name: target.xnack for target in TARGETS} == {one.name: one.xnack.value for one in ALL_TARGETS}
    assert (found := find_target("gfx90a:xnack+")) is not None
    assert found.xnack == XnackMode.SUPPORTED.value
    assert find_target("gfx803") is None


@pytest.mark.parametrize("target", [name for name in NAMES if architectural_family(name)])
def test_rocm_bootstraps_build_families_are_families(target: str) -> None:
    assert target in members(str(architectural_family(target)))


def test_a_kind_narrows_a_family() -> None:
    assert members("gfx110X-dgpu") == ["gfx1100", "gfx1101", "gfx1102"]
    assert members("gfx110X-igpu") == ["gfx1103"]
    assert members("gfx90X-dcgpu") == ["gfx908", "gfx90a"]
    assert members("gfx-all") == members("all-all") == NAMES
    unknown = {
        name: family.has("gfx1299")
        for name in ("dgpu-all", "gfx129X-dgpu", "all-all")
        if (family := parse_family(name))
    }
    assert unknown == {"dgpu-all": False, "gfx129X-dgpu": True, "all-all": True}


def test_a_sub_family_is_no_major_version() -> None:
    assert members("gfx12-5") == ["gfx1250", "gfx1250-strict", "gfx1251"]
    assert "gfx942" in members("gfx9-all")
    assert "gfx942" not in members("gfx9-0")


@pytest.mark.parametrize(
    "name", ["gfx942", "gfx90a:xnack+", "gfx90a-xnack+", "gfx1250-strict", "gfx103X-none", "gfx103", "gfx", "all", ""]
)
def test_names_that_are_no_families(name: str) -> None:
    assert parse_family(name) is None


@pytest.mark.parametrize("name", GENERIC_PROCESSORS)
def test_generic_processors_are_no_families(name: str) -> None:
    assert parse_family(name) is None
    assert not is_target(name)


@pytest.mark.parametrize(
    ("family", "target", "expected"),
    [
        ("gfx94X-dcgpu", "gfx941", True),
        ("gfx9-all", "gfx940:xnack+", True),
        ("gfx12-5", "gfx1252", True),
        ("gfx-all", "gfx803", True),
        ("gfx80X", "gfx803", True),
        ("dgpu-all", "gfx803", False),
        ("gfx9-all", "gfx1030", False),
        ("gfx950-dcgpu", "gfx950:xnack-", True),
        ("gfx-all", "gfx9-4-generic", False),
    ],
)
def test_targets_that_the_table_lacks_are_judged_by_their_digits(family: str, target: str, expected: bool) -> None:
    found = parse_family(family)
    assert found is not None
    assert found.has(target) is expected
    assert overlap(family, target) is overlap(target, family) is expected


def test_overlap() -> None:
    assert overlap("gfx1250", "gfx1250-strict")
    assert overlap("gfx110X-all", "gfx110X-igpu")
    assert not overlap("gfx110X-dgpu", "gfx110X-igpu")
    assert overlap("gfx9-all", "gfx94X-dcgpu")
    assert not overlap("gfx12-5", "gfx1201")


def test_names_of_one_family() -> None:
    same = ["gfx125X", "gfx12-5", "gfx12_5", "gfx12_5-all", "gfx125x-all"]
    families = [family for name in same if (family := parse_family(name))]
    assert len(families) == len(same)
    assert all(one.means_the_same(other) for one in families for other in families)
    dcgpu = parse_family("gfx125X-dcgpu")
    assert dcgpu is not None
    assert not dcgpu.means_the_same(families[0])


def test_names_of_targets() -> None:
    assert all(is_target(name) for name in (*NAMES, "gfx803", "gfx1310"))
    assert not any(is_target(name) for name in ("gfx110X", "gfx9", "gfx90a:xnack+", "gfx90a68", "foo"))
    assert without_features("gfx90a:sramecc+:xnack-") == "gfx90a"
    assert with_colons("gfx90a-sramecc+-xnack-") == "gfx90a:sramecc+:xnack-"
    assert all(with_colons(name) == name for name in ("gfx90a:xnack+", "gfx1250-strict", "gfx110X-all", "generic"))
    assert name_in_distribution("gfx12_5") == "gfx12-5"
    assert name_in_distribution("gfx1250-strict") == "gfx1250"


def test_amds_table_does_not_contradict_llvms() -> None:
    for bundle in all_bundles():
        if bundle.llvm_generic:
            assert GENERIC_PROCESSORS[bundle.llvm_generic] & {one.name for one in bundle.members}, bundle.key
    for generic, covered in GENERIC_PROCESSORS.items():
        for processor in covered & set(NAMES):
            major = parse_family(generic.removesuffix("-generic").split("-")[0])
            assert major is not None
            assert major.has(processor), f"{generic} covers {processor}"
