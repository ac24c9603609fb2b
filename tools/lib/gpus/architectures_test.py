"""Tests of what names of GPU architectures mean, by AMD's rules and by a table."""

import pytest

from tools.lib.gpus.architectures import AMD, ArchitectureTable, read_architectures

ACME = ArchitectureTable(
    names=("sm_80", "sm_86", "sm_90", "sm_90a"),
    families={"sm_8x": ("sm_80", "sm_86")},
    loads={"sm_86": ("sm_80",)},
    spellings={"ampere": "sm_8x", "sm90": "sm_90"},
)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("lib/kernels_sm_90.cubin", ("sm_90",)),
        ("lib/kernels_sm_90a_v2.cubin", ("sm_90a",)),
        ("share/sm_80/table.bin", ("sm_80",)),
        ("share/sm_80/table_sm_86.bin", ("sm_86",)),
        ("share/k-sm_86-sm_80.bin", ("sm_80", "sm_86")),
        ("share/ampere.bin", ("sm_8x",)),
        ("share/sm90.bin", ("sm_90",)),
        ("lib/libprism_80.so", ()),
        ("share/sm_800.bin", ()),
        ("share/sm_70.bin", ()),
    ],
)
def test_what_a_path_says(path: str, names: tuple[str, ...]) -> None:
    assert ACME.named(path) == names


def test_a_pattern_finds_what_the_table_lacks() -> None:
    table = read_architectures({"names": ["sm_80"], "families": {"old": ["sm_80"]}, "pattern": "sm_[0-9]+[a-z]?|"})
    assert table.named("share/sm_70/a_b.bin") == ("sm_70",)
    assert (table.named("k_sm_80a.bin"), table.named("k_old.bin")) == (("sm_80a",), ("old",))
    assert table.serving("sm_70") == set()


def test_who_loads_what() -> None:
    gpus = {code: [gpu for gpu in ACME.names if ACME.can_load(code, gpu)] for code in (*ACME.names, "sm_8x", "sm_70")}
    assert gpus == {
        "sm_80": ["sm_80", "sm_86"],
        "sm_86": ["sm_86"],
        "sm_8x": ["sm_80", "sm_86"],
        "sm_90": ["sm_90"],
        "sm_90a": ["sm_90a"],
        "sm_70": [],
    }
    assert (ACME.serving("sm_80"), ACME.serving("sm_8x"), ACME.serving("x")) == ({"sm_80"}, {"sm_80", "sm_86"}, set())


def test_without_a_table_they_are_amds() -> None:
    assert read_architectures(None) is AMD
    assert AMD.named("lib/Kernels.so-000-gfx90a-xnack+.hsaco") == ("gfx90a:xnack+",)
    assert AMD.can_load("gfx11-generic", "gfx1100")
    assert not AMD.can_load("gfx90a:xnack-", "gfx90a:xnack+")
    assert (AMD.serving("gfx12-generic"), AMD.serving("gfx1250-strict")) == ({"gfx1200", "gfx1201"}, {"gfx1250"})


def test_a_pattern_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"^pattern .\(. is no regular expression: "):
        read_architectures({"names": ["sm_80"], "pattern": "("})
