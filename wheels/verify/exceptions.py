"""Exceptions: findings that are known and right, each declared with its reason.

    [[exception]]
    id = "W406"
    wheel = "rocm_sdk_core-*"        # pattern of the wheel's file name; left out: any
    file = "**/lib/libold.so.1"      # pattern of the path in it; left out: any
    evidence = "*GLIBC_2.38*"        # pattern of the evidence; left out: any
    target = "gfx103*"               # pattern of GPU targets; left out: any, and findings about none
    reason = "its trampolines are written at run time"

Patterns are as in `lib.plan.model`: `*` stops at `/`, `**` does not. If a finding is about several targets,
an exception that names some of them leaves the others. An exception that no finding needs is a finding itself: it would
hide the next fault of its kind.

Whoever verifies third-party wheels can neither rebuild nor change them. Rules about form alone (`FORM`), and about what
only their authors can decide, are notes for them.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from lib.common.program import ToolError
from lib.plan.model import matches
from wheels.verify.finding import Finding, Rule, Severity

#: The rules about form; docs/release/verify.md explains the choice.
FORM: Final = frozenset(
    {
        "W119",  # Data descriptors and comments: installers read them.
        "W111",  # Limits: the program that verifies has them, not whoever built the wheel.
        "W113",
        "W116",
        "W206",  # Lines of RECORD that pip and uv accept.
        "W305",  # Installers take the tags of the file name.
        "W306",
        "W307",  # Licences.
        "S161",
        "W407",  # Size: debug information, leftovers, code for other GPUs.
        "W517",
        "D107",
        "W411",  # Search paths: S101 says whether a library is not found.
        "W413",
        "W414",
        "S103",
        "S141",
        "W512",  # S121 says whether files of the set are overwritten.
    }
)


def softened(finding: Finding, others: Collection[str]) -> Finding:
    """Return a finding as it counts: a note if it is about the form of one of the `others` (file names of wheels)."""
    if finding.wheel not in others or finding.id not in FORM or finding.severity is Severity.NOTE:
        return finding
    return replace(finding, rule=replace(finding.rule, severity=Severity.NOTE))


UNUSED = Rule(
    "X101",
    "an exception no longer applies",
    why="It matches no finding now, and would hide a future one.",
    remedy="Remove the exception, or correct its patterns.",
)


@dataclass(frozen=True)
class DeclaredException:
    """One exception; a pattern that is `**` fits everything."""

    id: str
    reason: str
    wheel: str = "**"
    file: str = "**"
    evidence: str = "**"
    target: str = "**"

    def fits(self, finding: Finding) -> bool:
        """Whether it excuses a finding, or some of its targets."""
        pairs = ((self.wheel, finding.wheel), (self.file, finding.file), (self.evidence, finding.evidence))
        fitting = self.id == finding.id and all(matches(text, (pattern,)) is not None for pattern, text in pairs)
        return fitting and (self.target == "**" or bool(self.excused_targets(finding)))

    def excused_targets(self, finding: Finding) -> tuple[str, ...]:
        """Return the targets for which this exception excuses a finding."""
        return tuple(target for target in finding.targets if matches(target, (self.target,)) is not None)

    def describe(self) -> str:
        """Return all fields as text, for the finding that reports unused exceptions."""
        target = "" if self.target == "**" else f", target {self.target!r}"
        return f"{self.id}, wheel {self.wheel!r}, file {self.file!r}, evidence {self.evidence!r}{target}: {self.reason}"


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
            raise ToolError(
                f"{where}: no rule has the identifier {value.get('id')!r}; docs/reference/verify-rules.md lists them"
            )
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
    left: list[Finding] = []
    excused: list[tuple[Finding, DeclaredException]] = []
    for finding in findings:
        rest: Finding | None = finding
        for exception in exceptions:
            if rest is not None and exception.fits(rest):
                targets = exception.excused_targets(rest)
                excused.append((replace(rest, targets=targets), exception))
                kept = tuple(target for target in rest.targets if target not in targets)
                rest = replace(rest, targets=kept) if kept else None
        left += [rest] if rest is not None else []
    used = {id(exception) for _, exception in excused}
    left += [UNUSED.finding("", "", one.describe()) for one in exceptions if id(one) not in used]
    return Judged(
        tuple(sorted(left, key=lambda one: one.sort_key)), tuple(sorted(excused, key=lambda one: one[0].sort_key))
    )
