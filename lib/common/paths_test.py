"""Tests of paths inside trees."""

import pytest

from lib.common.paths import directories_above


@pytest.mark.parametrize(("path", "above"), [("lib/a/b.so", ["lib/a", "lib"]), ("lib", []), ("", [])])
def test_directories_above(path: str, above: list[str]) -> None:
    assert list(directories_above(path)) == above
