"""Tests of the table: every package of real ROCm has a place in the layout."""

import pytest

from develop.real_rocm.releases import RELEASES, SYSTEM, rule_of

ROCM7 = RELEASES[7]


@pytest.mark.parametrize("rocm", RELEASES)
def test_every_package_has_a_place(rocm: int) -> None:
    release = RELEASES[rocm]
    names = release.names(small=False)
    assert set(names) - set(release.names(small=True)) == set(release.big)
    assert {name for name in names if rule_of(name, release) is SYSTEM} == set(release.system)


def test_a_package_without_a_place() -> None:
    with pytest.raises(KeyError, match="libc6: no rule says where it goes"):
        rule_of("libc6", ROCM7)
