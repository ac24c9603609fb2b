"""Conditions of `if`: true, false, undecided and malformed ones."""

import pytest

from tools.fetch.prefix.cmake_condition import Answers, Word, evaluate
from tools.fetch.prefix.cmake_syntax import CMakeError, read_commands
from tools.fetch.prefix.cmake_values import UNKNOWN

VARIABLES = {"on": "ON", "off": "OFF", "text": "abc", "list": "a;b", "unknown": UNKNOWN, "empty": ""}
ANSWERS = Answers(
    value=VARIABLES.get,
    exists=lambda path: path == "/there",
    is_directory=lambda path: path == "/directory",
    is_target=lambda name: name == "a::b",
    is_command=lambda name: True if name == "known" else None,
)


def decided(condition: str) -> bool | None:
    (command,) = read_commands(f"if({condition})", "x.cmake")
    return evaluate([Word(one.text.replace("?", UNKNOWN), one.quoted) for one in command.arguments], ANSWERS)


@pytest.mark.parametrize(
    "condition",
    [
        "on",
        "text",
        "NOT off",
        "NOT NOT on",
        "NOT absent",
        'NOT "text"',
        "on AND NOT off OR off",
        "off AND off OR on",
        "NOT (on AND off)",
        "text STREQUAL abc",
        "text STREQUAL \"abc\" AND 'x' STRLESS y",
        "4.0.0 VERSION_GREATER_EQUAL 3.28 AND 4.0 VERSION_EQUAL 4.0.0",
        "4.0 GREATER 2.8 AND 2 LESS_EQUAL 2",
        "a IN_LIST list AND NOT c IN_LIST list",
        "TARGET a::b AND NOT TARGET b",
        "EXISTS /there AND IS_DIRECTORY /directory AND IS_ABSOLUTE /x",
        "DEFINED empty AND NOT DEFINED ENV{HOME} AND NOT DEFINED absent",
        "COMMAND known",
        "on OR unknown",
        "NOT (off AND unknown)",
        "/a PATH_EQUAL /a",
    ],
)
def test_true(condition: str) -> None:
    assert decided(condition) is True
    assert decided(f"NOT ({condition})") is False


@pytest.mark.parametrize(
    "condition",
    [
        "unknown",
        "NOT unknown",
        '"a?" STREQUAL "a"',
        "on AND unknown",
        "off OR unknown",
        "EXISTS ?/there",
        "DEFINED unknown",
        "text MATCHES a",
        "COMMAND other",
        "POLICY CMP0054",
        "a IN_LIST unknown",
    ],
)
def test_undecided(condition: str) -> None:
    assert decided(condition) is None


@pytest.mark.parametrize("condition", ["", "on on", "text STREQUAL", "NOT", "on AND", "(" * 200 + "on" + ")" * 200])
def test_malformed(condition: str) -> None:
    with pytest.raises(CMakeError, match=r"if\(\)"):
        decided(condition)


def test_a_parenthesis_without_end() -> None:
    with pytest.raises(CMakeError, match="a parenthesis has no end"):
        evaluate([Word("(", quoted=False), Word("on", quoted=False)], ANSWERS)
