"""Target selection: the mapping of target IDs onto packages, and the order of the three sources."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rocm_sdk.detect import Gpu
from rocm_sdk.errors import TargetError
from rocm_sdk.targets import ENVIRONMENT_VARIABLE, match_target, select_target

FAMILIES = ("gfx9-all", "gfx94X-dcgpu", "gfx103X-all", "gfx110X-all", "gfx950-dcgpu", "gfx1151")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("gfx9-all", "gfx9-all"),
        ("gfx9", "gfx9-all"),
        ("gfx9500", None),
        ("gfx1151", "gfx1151"),
        ("gfx110X-all", "gfx110X-all"),
        ("gfx1100", "gfx110X-all"),
        ("gfx1103", "gfx110X-all"),
        ("gfx110f", "gfx110X-all"),
        ("gfx942", "gfx94X-dcgpu"),
        ("gfx942:sramecc+:xnack-", "gfx94X-dcgpu"),
        ("gfx950:xnack+", "gfx950-dcgpu"),
        ("gfx90a", "gfx9-all"),
        ("gfx1150", None),
        ("gfx1200", None),
        ("gfx110", None),
        ("gfx11000", None),
        ("gfx110X", "gfx110X-all"),
        ("gfx110X-dgpu", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_match_target(wanted: str, expected: str | None) -> None:
    assert match_target(wanted, FAMILIES) == expected


def test_a_family_with_members_serves_these_alone() -> None:
    members = {"gfx103X-dgpu": ("gfx1030", "gfx1032")}
    assert match_target("gfx1032", ["gfx103X-dgpu"], members) == "gfx103X-dgpu"
    assert match_target("gfx1031", ["gfx103X-dgpu"], members) is None
    assert match_target("gfx1031", ["gfx103X-dgpu"]) == "gfx103X-dgpu"
    assert match_target("gfx103X", ["gfx103X-dgpu"], members) is None
    assert select_target(["gfx103X-dgpu"], "gfx103X-dgpu", {}, [], members).source == "default"


def test_the_family_of_a_generation_is_the_last_resort_wherever_it_stands() -> None:
    for available in (("gfx9-all", "gfx94X-dcgpu", "gfx942"), ("gfx942", "gfx94X-dcgpu", "gfx9-all")):
        assert match_target("gfx942", available) == "gfx942"
        assert match_target("gfx941", available) == "gfx94X-dcgpu"
        assert match_target("gfx908", available) == "gfx9-all"


def test_the_narrower_family_wins_and_ties_go_to_the_first() -> None:
    assert match_target("gfx1101", ("gfx11XX-all", "gfx110X-dgpu", "gfx110X-all")) == "gfx110X-dgpu"
    assert match_target("gfx1150", ("gfx11XX-all", "gfx110X-dgpu")) == "gfx11XX-all"


def test_a_family_of_discrete_gpus_does_not_serve_an_integrated_one() -> None:
    assert match_target("gfx1103", ["gfx110X-dgpu"]) is None
    assert match_target("gfx1103", ["gfx110X-dgpu", "gfx110X-igpu"]) == "gfx110X-igpu"
    assert match_target("gfx1036", ["gfx103X-dgpu", "gfx103X-all"]) == "gfx103X-all"


def test_a_sub_family_serves_its_own_targets_alone() -> None:
    assert match_target("gfx1201", ["gfx12-5"]) is None
    assert match_target("gfx1201", ["gfx12-5", "gfx12-0"]) == "gfx12-0"
    assert match_target("gfx1250", ["gfx12-all", "gfx12-5"]) == "gfx12-5"
    assert match_target("gfx125X", ["gfx12-all", "gfx12-5"]) == "gfx12-5"


def test_a_target_is_served_by_the_package_that_owns_it() -> None:
    assert match_target("gfx1250-strict", ["gfx1201", "gfx1250"]) == "gfx1250"
    assert match_target("gfx1250-strict:xnack-", ["gfx1250"]) == "gfx1250"
    assert match_target("gfx1250-strict", ["gfx125X", "gfx1250-strict"]) == "gfx1250-strict"
    assert match_target("gfx1250", ["gfx1250-strict"]) is None
    assert match_target("gfx1201", ["gfx1250-strict"]) is None


def test_a_feature_suffix_prefers_the_very_target() -> None:
    assert match_target("gfx950:xnack+", ("gfx950", "gfx950:xnack+")) == "gfx950:xnack+"
    assert match_target("gfx950:xnack-", ("gfx950", "gfx950:xnack+")) == "gfx950"


TARGETS = st.from_regex(r"gfx(9|1[0-2])[0-9a-f]{2}", fullmatch=True)
NAMES = st.lists(TARGETS | TARGETS.map(lambda target: f"{target[:-1]}X-all"), min_size=1, max_size=8, unique=True)


@given(TARGETS, NAMES, st.randoms())
def test_each_target_is_served_by_itself_and_by_its_own_family(target: str, others: list[str], random: Random) -> None:
    family = f"{target[:-1]}X-all"
    available = list({*others, target, family})
    random.shuffle(available)
    assert match_target(target, available) == target
    available.remove(target)
    assert match_target(target, available) == family
    available.remove(family)
    assert match_target(target, available) is None


@given(NAMES, st.sampled_from(["", "gfx942", "gfx90a:xnack+"]), st.lists(TARGETS), st.randoms())
def test_the_choice_is_always_there_and_the_order_of_packages_does_not_matter(
    available: list[str], wanted: str, found: list[str], random: Random
) -> None:
    gpus = [Gpu(target, False, "kfd") for target in found]
    environ = {ENVIRONMENT_VARIABLE: wanted} if match_target(wanted, available) else {}
    selection = select_target(available, available[0], environ, gpus)
    assert selection.target in available
    assert selection.source == ("environment" if environ else selection.source)
    if selection.source == "detection":
        served = [target for target in found if match_target(target, available)]
        assert selection.target == match_target(served[0], available)
    elif selection.source == "default":
        assert not any(match_target(target, available) for target in found)
    shuffled = random.sample(available, len(available))
    assert select_target(shuffled, available[0], environ, gpus) == selection


GPUS = [Gpu("gfx906", False, "kfd"), Gpu("gfx1101", False, "kfd"), Gpu("gfx1151", True, "kfd")]


def test_the_environment_comes_first() -> None:
    selection = select_target(FAMILIES, "gfx1151", {ENVIRONMENT_VARIABLE: " gfx942 "}, GPUS)
    assert (selection.target, selection.source) == ("gfx94X-dcgpu", "environment")
    assert selection.reason == "ROCM_SDK_TARGET_FAMILY is gfx942, served by gfx94X-dcgpu"


def test_the_first_gpu_with_a_package_decides() -> None:
    selection = select_target(FAMILIES[1:], "gfx1151", {}, GPUS)
    assert (selection.target, selection.source) == ("gfx110X-all", "detection")
    assert selection.reason == "discrete GPU gfx1101 (found by kfd) is served by gfx110X-all"


def test_the_default_says_why() -> None:
    nothing = select_target(FAMILIES, "gfx1151", {ENVIRONMENT_VARIABLE: ""}, [])
    assert (nothing.target, nothing.source, nothing.reason) == ("gfx1151", "default", "no AMD GPU was found")
    unserved = select_target(["gfx942"], "gfx942", {}, GPUS)
    assert unserved.source == "default"
    assert unserved.reason == "no package serves the GPUs of this machine (gfx906, gfx1101, gfx1151)"


@pytest.mark.parametrize("wanted", ["gfx1200", "gfx110X-none", "all", "gfx110X-dgpu"])
def test_an_unknown_wish_is_an_error_that_lists_what_there_is(wanted: str) -> None:
    with pytest.raises(TargetError) as caught:
        select_target(["gfx942", "gfx110X-all"], "gfx942", {ENVIRONMENT_VARIABLE: wanted}, GPUS)
    assert str(caught.value) == (
        f"ROCM_SDK_TARGET_FAMILY={wanted}: there is no package for this target. Available: gfx942, gfx110X-all. "
        "Set ROCM_SDK_TARGET_FAMILY to one of these, or unset it to let the machine's GPU decide."
    )
