"""Tests of names: which targets files and distributions say that they are for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.gpus.paths import named_targets, target_of_distribution
from lib.gpus.table import TARGETS

PROCESSORS = [target.name for target in TARGETS]


@pytest.mark.parametrize(
    ("path", "targets"),
    [
        ("lib/libgfx.so", ""),
        ("share/gfx_notes.txt", ""),
        ("lib/notgfx1030.co", ""),
        ("lib/gfx90a/gfx906_60.kdb", "gfx906"),
        ("lib/gfx90a/K.dat", "gfx90a"),
        ("engines/rocke/gfx1250-strict/K.kpack", "gfx1250-strict"),
        ("lib/Kernels.so-000-gfx90a-xnack-.hsaco", "gfx90a:xnack-"),
        ("lib/K_gfx90a:sramecc+:xnack-.co", "gfx90a:sramecc+:xnack-"),
        ("lib/K_gfx90a-xnack+_sramecc-.co", "gfx90a:sramecc-:xnack+"),
        ("lib/K_gfx9-4-generic.co", "gfx9-4-generic"),
        ("lib/K_gfx11-generic.co", "gfx11-generic"),
        ("lib/K_gfx9_4_generic.co", "gfx9-4-generic"),
        ("lib/K_gfx12_5_generic-xnack+.co", "gfx12-5-generic:xnack+"),
        ("lib/K_gfx11_generics.co", "gfx11"),
        ("lib/K_gfx1250_strict.co", "gfx1250-strict"),
        ("lib/K_gfx1030_gfx1100.co", "gfx1030 gfx1100"),
        ("lib/K_gfx1100-gfx90a-xnack+.co", "gfx1100 gfx90a:xnack+"),
        ("lib/K_gfx1250-strict.co", "gfx1250-strict"),
        ("lib/K_gfx1250-strict-xnack+.co", "gfx1250-strict:xnack+"),
        ("lib/K_gfx1250-stricter.co", "gfx1250"),
        ("db/gfx90a68.kdb", "gfx90a"),
        ("db/gfx90a6e.HIP.fdb.txt", "gfx90a"),
        ("db/gfx942130.kdb", "gfx942"),
        ("db/gfx103036.kdb", "gfx1030"),
        ("db/gfx803_64.db.txt", "gfx803"),
        ("db/gfx115120.kdb", "gfx1151"),
        ("lib/K_gfx1399.co", "gfx1399"),
        ("lib/K_gfx9.co", "gfx9"),
        ("lib/K_gfx000.co", "gfx000"),
    ],
)
def test_the_targets_that_a_path_names(path: str, targets: str) -> None:
    assert " ".join(map(str, named_targets(path))) == targets


def test_processors_that_the_caller_knows() -> None:
    assert [str(one) for one in named_targets("K_gfx90a68.co", ["gfx90a6"])] == ["gfx90a6"]


@given(st.lists(st.sampled_from(PROCESSORS), min_size=1, max_size=3), st.sampled_from(["_", ".", "--"]))
def test_every_target_of_a_name_is_found(targets: list[str], separator: str) -> None:
    path = "lib/" + separator.join(["K", *targets, "co"])
    assert [str(one) for one in named_targets(path)] == sorted(set(targets))


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("rocm-sdk-device-gfx1030", "gfx1030"),
        ("rocm-sdk-device-gfx12-5", "gfx12-5"),
        ("rocm-sdk-device-gfx1250-strict", "gfx1250-strict"),
        ("rocm-sdk-libraries-gfx94x-dcgpu", "gfx94X-dcgpu"),
        ("rocm-sdk-libraries-gfx11xx-all", "gfx11XX-all"),
        ("rocm-sdk-libraries-gfx9-all", "gfx9-all"),
        ("kernels-gfx9-4-generic", "gfx9-4-generic"),
        ("kernels-gfx115x", "gfx115X"),
        ("kernels-gfx9", "gfx9"),
        ("kernels-gfx11xx", "gfx11XX"),
        ("gfx90a", "gfx90a"),
        ("kernels-gfx942-tools", None),
        ("kernelsgfx942", None),
        ("rocm-sdk-libraries", None),
        ("rocm-sdk-libraries-gfx1030-extras", None),
        ("libgfx1030", None),
        ("rocm-gfx", None),
    ],
)
def test_the_target_that_the_name_of_a_distribution_ends_in(name: str, target: str | None) -> None:
    assert target_of_distribution(name) == target
