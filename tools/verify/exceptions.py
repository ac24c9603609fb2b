"""Exceptions: findings that are known and right, each declared with its reason.

    [[exception]]
    id = "W406"
    wheel = "rocm_sdk_core-*"        # pattern of the wheel's file name; left out: any
    file = "**/lib/libold.so.1"      # pattern of the path in it; left out: any
    evidence = "*GLIBC_2.38*"        # pattern of the evidence; left out: any
    reason = "its trampolines are written at run time"

Patterns are those of `tools.plan.patterns`: `*` stops at `/`, `**` does not. An exception that no finding needs is a
finding itself: it would hide the next fault of its kind.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tools.common.errors import ToolError
from tools.plan.patterns import matches
from tools.verify.finding import Finding, Rule, Severity
from tools.verify.suite import Suite

UNUSED = Rule(
    "X101",
    Severity.ERROR,
    "an exception no longer applies",
    why="It excuses nothing today, and would hide the next fault that fits it.",
    remedy="Remove the exception, or correct its patterns.",
)
SUITE = Suite(rules=(UNUSED,))


@dataclass(frozen=True)
class DeclaredException:
    """One exception; a pattern that is `**` fits everything."""

    id: str
    reason: str
    wheel: str = "**"
    file: str = "**"
    evidence: str = "**"

    def fits(self, finding: Finding) -> bool:
        """Whether it excuses a finding."""
        pairs = ((self.wheel, finding.wheel), (self.file, finding.file), (self.evidence, finding.evidence))
        return self.id == finding.id and all(matches(text, (pattern,)) is not None for pattern, text in pairs)

    def describe(self) -> str:
        """Say which it is, for the finding that it is unused."""
        return f"{self.id}, wheel {self.wheel!r}, file {self.file!r}, evidence {self.evidence!r}: {self.reason}"


def make_exceptions(values: list[Any], known: Iterable[str], origin: str) -> tuple[DeclaredException, ...]:
    """Read what a configuration declares. `known` are the identifiers there are; raises ToolError naming `origin`."""
    found = []
    fields = tuple(DeclaredException.__dataclass_fields__)
    known = frozenset(known)
    for number, value in enumerate(values, 1):
        where = f"{origin}: exception {number}"
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            raise ToolError(f"{where}: {value!r}; expected strings for some of {', '.join(fields)}")
        if unknown := sorted(set(value) - set(fields)):
            raise ToolError(f"{where}: unknown: {', '.join(unknown)}; expected some of {', '.join(fields)}")
        if value.get("id") not in known:
            raise ToolError(f"{where}: no rule has the identifier {value.get('id')!r}; docs/verify.md lists them")
        if not value.get("reason", "").strip():
            raise ToolError(f"{where} ({value['id']}) has no reason; say why the finding is right")
        found.append(DeclaredException(**value))
    return tuple(found)


@dataclass(frozen=True)
class Judged:
    """Findings, and those that exceptions excuse, with the exception."""

    findings: tuple[Finding, ...]
    excused: tuple[tuple[Finding, DeclaredException], ...] = ()


def judge(findings: Iterable[Finding], exceptions: tuple[DeclaredException, ...]) -> Judged:
    """Part findings into those that stay and those that the first fitting exception excuses; add the unused ones."""
    left, excused = [], []
    for finding in findings:
        exception = next((one for one in exceptions if one.fits(finding)), None)
        if exception is None:
            left.append(finding)
        else:
            excused.append((finding, exception))
    used = {id(exception) for _, exception in excused}
    left += [UNUSED.finding("", "", one.describe()) for one in exceptions if id(one) not in used]
    return Judged(
        tuple(sorted(left, key=lambda one: one.sort_key)), tuple(sorted(excused, key=lambda one: one[0].sort_key))
    )
