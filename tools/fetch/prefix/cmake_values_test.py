"""References, lists and constants."""

import pytest

from tools.fetch.prefix.cmake_syntax import CMakeError
from tools.fetch.prefix.cmake_values import MAX_VALUE, UNKNOWN, constant_truth, expand, split_list

VARIABLES = {"A": "1", "B": "A", "A1": "nested", "L": "x;y", "U": UNKNOWN, "BIG": "x" * MAX_VALUE}


def value(text: str) -> str:
    return expand(text, lambda name: VARIABLES.get(name, ""))


def test_references() -> None:
    assert value("${A}/${B}/${absent}.") == "1/A/."
    assert value("${${B}}${A${A}}") == "1nested"
    assert value("$ENV{HOME}$CACHE{A}") == ""
    assert value("$<1:${A}> $ } { $A") == "$<1:1> $ } { $A"


def test_escapes() -> None:
    assert value(r"\"\${A}\n\;\\") == '"${A}\n\\;\\'


def test_what_is_unknown_spreads() -> None:
    assert value("a${U}b") == f"a{UNKNOWN}b"
    assert value("${${U}}") == UNKNOWN


def test_damaged_references() -> None:
    with pytest.raises(CMakeError, match="has no end"):
        value("${A")
    with pytest.raises(CMakeError, match="expected at most"):
        value("${BIG}${BIG}")


def test_lists() -> None:
    assert split_list("a;;b\\;c;") == ["a", "b;c"]
    assert split_list("a;$<$<X:1;2>:b;c>;d") == ["a", "$<$<X:1", "2>:b", "c>", "d"]
    assert split_list("a;$<$<X:1;2>:b;c>;d", expressions=True) == ["a", "$<$<X:1;2>:b;c>", "d"]


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("ON", True),
        ("y", True),
        ("2", True),
        ("0.0", False),
        ("", False),
        ("x-NOTFOUND", False),
        ("No", False),
        ("x", None),
    ],
)
def test_constants(text: str, truth: bool | None) -> None:
    assert constant_truth(text) is truth
