"""Tests of what packages are for, by their names."""

import pytest

from tools.device.target_id import parse_target_id
from tools.verify.device.owned import Owned, target_of_distribution


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("rocm-sdk-libraries-gfx1030", "gfx1030"),
        ("rocm-sdk-libraries-gfx90a", "gfx90a"),
        ("kernels-gfx942", "gfx942"),
        ("gfx942", "gfx942"),
        ("rocm-sdk-libraries-gfx110x-all", "gfx110X-all"),
        ("rocm-sdk-libraries-gfx94x-dcgpu", "gfx94X-dcgpu"),
        ("rocm-sdk-libraries-gfx9-all", "gfx9-all"),
        ("kernels-gfx11xx", "gfx11XX"),
        ("kernels-gfx11-generic", "gfx11-generic"),
        ("kernels-gfx9-4-generic", "gfx9-4-generic"),
        ("rocm-sdk-libraries", None),
        ("kernels-gfx942-tools", None),
        ("kernels-gfx9", None),
        ("kernelsgfx942", None),
        ("gfx-tools", None),
    ],
)
def test_names(name: str, target: str | None) -> None:
    assert target_of_distribution(name) == target


@pytest.mark.parametrize(
    ("target", "useful", "useless"),
    [
        ("gfx1030", "gfx1030 gfx10-3-generic amdgcnspirv", "gfx1031 gfx90a gfx11-generic"),
        ("gfx90a", "gfx90a gfx90a:xnack+ gfx90a:sramecc-:xnack-", "gfx908:xnack+ gfx9-generic"),
        ("gfx110X-all", "gfx1100 gfx1103 gfx11-generic", "gfx1150 gfx942"),
        ("gfx9-all", "gfx900 gfx90a:xnack+ gfx9-generic", "gfx1030"),
    ],
)
def test_what_code_is_of_use(target: str, useful: str, useless: str) -> None:
    owned = Owned(target, is_exact=True)
    assert all(owned.can_use(parse_target_id(code)) for code in useful.split())
    assert not any(owned.can_use(parse_target_id(code)) for code in useless.split())
