"""GPU targets of AMD's and LLVM's tables."""

import pytest

from lib.gpus.paths import is_known, suggestion


@pytest.mark.parametrize(
    "word", ["gfx942", "gfx90a:xnack+", "gfx1250-strict", "gfx941", "gfx803", "gfx11-generic", "gfx110X-all", "gfx9"]
)
def test_known(word: str) -> None:
    assert is_known(word)


@pytest.mark.parametrize("word", ["gfx1299", "gfx9ff", "gfx14X-all", "gfx", "sm_90", ""])
def test_unknown(word: str) -> None:
    assert not is_known(word)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("gfx1109", "gfx1100, gfx1101, gfx1102, gfx1103"),
        ("gfx11022", "gfx1102"),
        ("gfx943", "gfx940, gfx941, gfx942"),
        ("gfx90a2:xnack+", "gfx90a"),
    ],
)
def test_what_is_near(word: str, near: str) -> None:
    assert suggestion(word).startswith(f"near it are {near}; known are gfx900, gfx902, ")


def test_a_word_that_is_near_nothing() -> None:
    assert suggestion("sm_90").startswith("known are gfx900, ")
    assert suggestion("").startswith("known are gfx900, ")
    assert suggestion("gf942").startswith("near it are gfx942")
