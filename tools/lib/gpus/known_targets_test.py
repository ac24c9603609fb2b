"""GPU targets of AMD's and LLVM's tables."""

import pytest

from tools.lib.gpus.known_targets import is_known, suggestion


@pytest.mark.parametrize(
    "word", ["gfx942", "gfx90a:xnack+", "gfx1250-strict", "gfx941", "gfx803", "gfx11-generic", "gfx110X-all", "gfx9"]
)
def test_known(word: str) -> None:
    assert is_known(word)


@pytest.mark.parametrize("word", ["gfx1299", "gfx9ff", "gfx14X-all", "gfx", "sm_90", ""])
def test_unknown(word: str) -> None:
    assert not is_known(word)


def test_what_is_near() -> None:
    near, _, known = suggestion("gfx1102x").partition("; ")
    assert near.startswith("near it are gfx1102, ")
    assert known.startswith("known are gfx900, gfx902, ")
    assert suggestion("sm_90").startswith("known are gfx900, ")
