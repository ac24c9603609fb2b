"""The copies of AMD's table are as the locked rocm-bootstrap has it, and what is known of ROCm's builds."""

from pathlib import Path

import pytest

from lib.gpus.table import TARGETS
from tests.names.gpu_tables import built, family_members, kind_of, written_files

WORKSPACE = Path(__file__).parents[2]


@pytest.mark.parametrize("path", sorted(written_files()))
def test_a_copy_is_what_amds_table_makes_it(path: str) -> None:
    text = (WORKSPACE / path).read_text(encoding="utf-8")
    assert text == written_files()[path], f"{path}: run `bazel run //tests/golden:update` until it changes nothing"


def test_rocms_builds_know_no_target_that_rocm_bootstrap_does_not() -> None:
    families = built()["families"]
    assert {name for names in families.values() for name in names} <= {target.name for target in TARGETS}
    kinds = [name for kind in ("dcgpu-all", "dgpu-all", "igpu-all") for name in families[kind]]
    assert len(kinds) == len(set(kinds)) == 28, "each target that is built has one kind"


def test_families_of_rocms_builds_have_the_targets_that_they_build() -> None:
    assert {name: family_members()[name] for name in built()["families"]} == built()["families"]


def test_a_target_of_unknown_kind_is_refused() -> None:
    from rocm_bootstrap.targets import GfxTarget, XnackMode

    with pytest.raises(KeyError, match="gfx1399"):
        kind_of(GfxTarget("gfx1399", 13, 9, 9, XnackMode.UNSUPPORTED), built())
