"""Tests of what names of GPU architectures mean, by AMD's rules and by a table."""

from pathlib import Path

import pytest

from lib.common.program import ToolError
from lib.gpus.architectures import AMD, ArchitectureTable, load_architectures, read_architectures

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
    with pytest.raises(ToolError, match=r"^pattern .\(. is no regular expression: .*Correct the `sdk_gpu_archi"):
        read_architectures({"names": ["sm_80"], "pattern": "("})


@pytest.mark.parametrize(
    ("name", "local", "target"),
    [
        ("acme-kernels-sm-90", "cuda12.sm.90", "sm_90"),
        ("acme-sm-90a", "sm.90a", "sm_90a"),
        ("sm-8x", "sm.8x", "sm_8x"),
        ("acme-kernels-sm-90-doc", "sm.90.post1", None),
        ("acme-prism-80", "sm.70", None),
        ("acme", None, None),
    ],
)
def test_what_the_names_and_versions_of_distributions_end_in(name: str, local: str | None, target: str | None) -> None:
    assert (ACME.of_distribution(name), ACME.of_local_version(local)) == (target, target)


def test_how_distributions_say_a_name() -> None:
    assert [gpus.in_distribution(name) for gpus, name in ((ACME, "sm_90a"), (AMD, "gfx110X-all"))] == [
        "sm-90a",
        "gfx110x-all",
    ]
    assert (ACME.is_package_for("sm_8x", "sm_86"), ACME.is_package_for("sm_90", "sm_90a")) == (True, False)
    assert (AMD.is_package_for("gfx110X-all", "gfx1101"), AMD.is_package_for("gfx11-generic", "gfx942")) == (
        True,
        False,
    )


def test_which_gpus_code_is_for() -> None:
    assert (ACME.covered("sm_8x"), ACME.covered("sm_90")) == (frozenset(("sm_80", "sm_86")), frozenset(["sm_90"]))
    assert (AMD.covered("gfx12-generic"), AMD.covered("gfx90a:xnack+"), AMD.covered("amdgcnspirv")) == (
        frozenset(("gfx1200", "gfx1201")),
        frozenset(["gfx90a"]),
        frozenset(),
    )


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    assert (ACME.canonical("sm_8x"), AMD.canonical("gfx90a:xnack+:sramecc+")) == ("sm_8x", "gfx90a:sramecc+:xnack+")
    with pytest.raises(
        ValueError, match=r"^GPU architecture 'sm_70': expected one of sm_80, sm_86, sm_90, sm_90a, sm_8x"
    ):
        ACME.canonical("sm_70")
    ACME.check_gpu("sm_86")
    with pytest.raises(ValueError, match=r"^expected one of sm_80, sm_86, sm_90, sm_90a$"):
        ACME.check_gpu("sm_8x")
    with pytest.raises(ValueError, match=r"^expected one without features, such as gfx942$"):
        AMD.check_gpu("gfx90a:xnack+")


def test_the_table_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "gpus.json"
    path.write_text('{"names": ["sm_80"], "code_suffixes": [".cubin"]}')
    assert load_architectures(str(path)) == ArchitectureTable(("sm_80",), code_suffixes=(".cubin",))
    assert load_architectures(None) is AMD
    path.write_text('{"libraries": {}}')
    with pytest.raises(ToolError, match=r"gpus\.json: expected the file of an `sdk_gpu_architectures`"):
        load_architectures(str(path))
