"""Tests of what packages are for."""

import pytest

from lib.gpus.target_id import TargetId, parse_target_id
from wheels.verify.device.package_targets import Owned, expanded, in_scope, unserved


@pytest.mark.parametrize(
    ("target", "useful", "useless"),
    [
        ("gfx1030", "gfx1030 gfx10-3-generic amdgcnspirv", "gfx1031 gfx90a gfx11-generic"),
        ("gfx90a", "gfx90a gfx90a:xnack+ gfx90a:sramecc-:xnack-", "gfx908:xnack+ gfx9-generic"),
        ("gfx110X-all", "gfx1100 gfx1103 gfx11-generic", "gfx1150 gfx942"),
        ("gfx1250", "gfx1250 gfx1250-strict gfx12-5-generic", "gfx1251 gfx12-generic"),
        ("gfx12-5", "gfx1250-strict:xnack+ gfx1251", "gfx1201"),
        ("gfx110X-dgpu", "gfx1102 gfx11-generic", "gfx1103"),
        ("gfx9-all", "gfx900 gfx90a:xnack+ gfx9-generic", "gfx1030"),
    ],
)
def test_what_code_is_of_use(target: str, useful: str, useless: str) -> None:
    owned = Owned(target, is_exact=True)
    assert all(owned.can_use(parse_target_id(code)) for code in useful.split())
    assert not any(owned.can_use(parse_target_id(code)) for code in useless.split())


def targets(text: str) -> frozenset[TargetId]:
    """Parse target IDs."""
    return frozenset(parse_target_id(one) for one in text.split())


@pytest.mark.parametrize(
    ("codes", "scope", "known", "wanted"),
    [
        ("gfx90a gfx1100", "", "gfx90a gfx1100 gfx1030", "gfx90a gfx1100"),
        ("gfx90a gfx1100", "gfx90a", "gfx90a gfx1100", "gfx90a"),
        ("gfx1100", "gfx1030", "gfx1100 gfx1030", ""),
        ("gfx1100 gfx1030", "gfx110X-all", "gfx1100 gfx1101 gfx1030", "gfx1100"),
        ("gfx90a", "", "gfx90a:xnack+ gfx90a:xnack- gfx906:xnack-", "gfx90a gfx90a:xnack+ gfx90a:xnack-"),
        ("gfx90a:xnack+", "gfx90a", "gfx90a:xnack+ gfx90a:xnack-", "gfx90a gfx90a:xnack+ gfx90a:xnack-"),
        ("gfx11-generic", "", "gfx1100 gfx1151 gfx1030", "gfx1100 gfx1151"),
        ("gfx11-generic", "gfx1102", "gfx11-generic", "gfx1102"),
        ("gfx11-generic", "gfx11-generic", "gfx11-generic", "gfx11-generic"),
        ("amdgcnspirv", "", "gfx1100 gfx90a", "gfx1100 gfx90a"),
    ],
)
def test_in_scope(codes: str, scope: str, known: str, wanted: str) -> None:
    assert in_scope(targets(codes), frozenset(scope.split()), targets(known)) == targets(wanted)


def test_unserved() -> None:
    codes = targets("gfx90a:xnack+ gfx11-generic")
    offered = ["gfx1100", "gfx90a", "gfx1030", "gfx110X-all", "gfx94X-dcgpu"]
    assert unserved(codes, offered) == ("gfx1030", "gfx94X-dcgpu")


def test_families_are_those_of_their_processors_that_are_known() -> None:
    assert expanded(["gfx110X-all", "gfx942"], targets("gfx1100 gfx1030")) == {"gfx1100", "gfx942"}
    assert expanded(["gfx110X-all"], targets("gfx942")) == {"gfx110X-all"}
