"""Tests of what packages are for."""

import pytest

from tools.lib.device.target_id import parse_target_id
from verify.device.owned import Owned


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
