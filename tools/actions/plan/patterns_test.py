"""Tests of glob patterns."""

import pytest

from tools.actions.plan.patterns import matches


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("lib/*.so", "lib/liba.so"),
        ("lib/lib?.so", "lib/liba.so"),
        ("**/cmake/**", "cmake/a.cmake"),
        ("**/cmake/**", "lib/x/cmake/hip/a.cmake"),
        ("lib/**", "lib/a/b/c"),
        ("lib/**/c", "lib/c"),
        ("lib/**/c", "lib/a/b/c"),
        ("**", "any/thing"),
        ("a+b (1).[so]", "a+b (1).[so]"),
    ],
)
def test_matches(pattern: str, path: str) -> None:
    assert matches(path, (pattern,)) == pattern


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("lib/*.so", "lib/a/liba.so"),
        ("*.so", "lib/liba.so"),
        ("lib/lib?.so", "lib/lib.so"),
        ("lib/lib?.so", "lib/lib/.so"),
        ("**/cmake/**", "lib/cmake"),
        ("**/cmake/**", "lib/notcmake/x"),
        ("lib/**", "lib"),
        ("lib", "lib/a"),
        ("a.so", "abso"),
        ("[ab]", "a"),
    ],
)
def test_does_not_match(pattern: str, path: str) -> None:
    assert matches(path, (pattern,)) is None


def test_first_matching_pattern_is_named() -> None:
    assert matches("lib/a", ("bin/*", "lib/*", "**")) == "lib/*"
    assert matches("lib/a", ()) is None
