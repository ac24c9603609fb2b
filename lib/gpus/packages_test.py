"""Tests of what names of AMD's GPU architectures mean."""

import pytest

from lib.gpus.paths import canonical, covered, in_distribution, is_package_for, loads, named, serving


def test_what_a_path_says_and_who_loads_it() -> None:
    assert named("lib/Kernels.so-000-gfx90a-xnack+.hsaco") == ("gfx90a:xnack+",)
    assert loads("gfx11-generic", "gfx1100")
    assert not loads("gfx90a:xnack-", "gfx90a:xnack+")
    assert (serving("gfx12-generic"), serving("gfx1250-strict")) == ({"gfx1200", "gfx1201"}, {"gfx1250"})


def test_how_distributions_say_a_name() -> None:
    assert in_distribution("gfx110X-all") == "gfx110x-all"
    assert (is_package_for("gfx110X-all", "gfx1101"), is_package_for("gfx11-generic", "gfx942")) == (True, False)


def test_which_gpus_code_is_for() -> None:
    assert (covered("gfx12-generic"), covered("gfx90a:xnack+"), covered("amdgcnspirv")) == (
        frozenset(("gfx1200", "gfx1201")),
        frozenset(["gfx90a"]),
        frozenset(),
    )


def test_names_are_canonical() -> None:
    assert canonical("gfx90a:xnack+:sramecc+") == "gfx90a:sramecc+:xnack+"
    with pytest.raises(ValueError, match="sm_70"):
        canonical("sm_70")
