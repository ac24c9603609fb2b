"""Exceptions excuse what they say and nothing else; unused exceptions are found; bad ones are refused."""

from typing import Any

import pytest

from lib.common.program import ToolError
from wheels.verify.exceptions import DeclaredException, judge, make_exceptions
from wheels.verify.finding import Finding, Rule, Severity

RULE = Rule("W404", "an executable stack", "Why.", "Remedy.")
OTHER = Rule("W405", "other", "Why.", "Remedy.", Severity.NOTE)


def finding(file: str, rule: Rule = RULE, evidence: str = "PT_GNU_STACK of a/b") -> Finding:
    return rule.finding("core-1.0-py3-none-any.whl", file, evidence)


@pytest.mark.parametrize(
    ("exception", "fits"),
    [
        (DeclaredException("W404", "x"), True),
        (DeclaredException("W405", "x"), False),
        (DeclaredException("W404", "x", wheel="core-*"), True),
        (DeclaredException("W404", "x", wheel="other-*"), False),
        (DeclaredException("W404", "x", file="lib/*.so"), True),
        (DeclaredException("W404", "x", file="*.so"), False),
        (DeclaredException("W404", "x", file="**/*.so"), True),
        (DeclaredException("W404", "x", evidence="**GNU_STACK**"), True),
        (DeclaredException("W404", "x", evidence="**RELRO**"), False),
    ],
)
def test_patterns(exception: DeclaredException, fits: bool) -> None:
    assert exception.fits(finding("lib/a.so")) is fits


def test_what_is_excused_and_what_stays() -> None:
    excuse = DeclaredException("W404", "trampolines", file="lib/a.so")
    judged = judge([finding("lib/b.so"), finding("lib/a.so"), finding("lib/a.so", OTHER)], (excuse,))
    assert [(one.id, one.file) for one in judged.findings] == [("W404", "lib/b.so"), ("W405", "lib/a.so")]
    assert judged.excused == ((finding("lib/a.so"), excuse),)


def test_an_exception_that_no_longer_applies_is_a_finding() -> None:
    judged = judge([finding("lib/b.so")], (DeclaredException("W404", "it was so", file="lib/a.so"),))
    assert [one.id for one in judged.findings] == ["X101", "W404"]
    assert "it was so" in judged.findings[0].evidence
    assert "lib/a.so" in judged.findings[0].evidence


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"id": "W999", "reason": "x"}, "no rule has the identifier 'W999'"),
        ({"id": "W404"}, "has no reason"),
        ({"id": "W404", "reason": " "}, "has no reason"),
        ({"id": "W404", "reason": "x", "files": "y"}, "unknown: files"),
        ({"id": "W404", "reason": 5}, "expected strings"),
        ("W404", "expected strings"),
    ],
)
def test_a_bad_exception_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ToolError, match=message) as error:
        make_exceptions([value], ["W404"], "verify.toml")
    assert str(error.value).startswith("verify.toml: exception 1")


def test_an_exception_for_some_targets_leaves_the_others() -> None:
    found = RULE.finding("a.whl", "lib/liba.so", "no code", ["gfx1030", "gfx1100", "gfx90a:xnack+"])
    one = DeclaredException("W404", "known", target="gfx1030")
    other = DeclaredException("W404", "known too", target="gfx90a*")
    judged = judge([found], (one, other))
    assert [(left.targets, left.said) for left in judged.findings] == [(("gfx1100",), "gfx1100: no code")]
    assert [(excused.targets, by) for excused, by in judged.excused] == [
        (("gfx1030",), one),
        (("gfx90a:xnack+",), other),
    ]
    assert judge([found], (DeclaredException("W404", "all"),)).findings == ()


def test_an_exception_for_a_target_does_not_excuse_what_is_about_none() -> None:
    judged = judge([RULE.finding("a.whl", "f", "e")], (DeclaredException("W404", "known", target="gfx1030"),))
    assert [left.id for left in judged.findings] == ["X101", "W404"]
