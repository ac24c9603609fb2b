"""Findings for people: grouped by wheel and rule, the remedy once per rule, coloured if the reader is a terminal."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from wheels.verify.engine import Outcome
from wheels.verify.finding import Finding, Severity

#: ANSI escape codes (ECMA-48, SGR).
COLOURS: Final = {Severity.ERROR: "\033[1;31m", Severity.WARNING: "\033[1;33m", Severity.NOTE: "\033[1;36m"}
BOLD: Final = "\033[1m"
RESET: Final = "\033[0m"
#: Of one rule in one wheel so many files are shown, unless all are asked for.
SHOWN: Final = 10


def render(outcome: Outcome, *, colour: bool = False, everything: bool = False) -> str:
    """Return the report; with `everything`, all files of every finding and what exceptions excuse."""
    lines: list[str] = []
    for wheel, in_wheel in groupby(outcome.judged.findings, key=lambda one: one.wheel):
        lines.append(_paint(wheel or "the set", BOLD, colour))
        for rule, found in groupby(in_wheel, key=lambda one: one.rule):
            lines.append(
                f"  {_paint(f'{rule.id} {rule.severity.value}', COLOURS[rule.severity], colour)}: {rule.title}"
            )
            lines += _files(list(found), everything=everything)
            lines.append(f"    remedy: {rule.remedy}")
        lines.append("")
    if everything:
        for finding, exception in outcome.judged.excused:
            lines.append(printable(f"excused {finding.id} {finding.wheel} {finding.file}: {finding.said}"))
            lines.append(f"    because {exception.reason}")
    lines.append(summary(outcome))
    return "\n".join(lines) + "\n"


def _files(findings: list[Finding], *, everything: bool) -> Iterator[str]:
    shown = findings if everything else findings[:SHOWN]
    for one in shown:
        yield printable(f"    {one.file}: {one.said}" if one.file else f"    {one.said}")
    if len(findings) > len(shown):
        yield f"    and {len(findings) - len(shown)} more; --all shows them"


def printable(text: str) -> str:
    """Escape what would control the terminal, or what it cannot show: names of files may have anything in them."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def summary(outcome: Outcome) -> str:
    """Return the last line: what was looked at and how much was found."""
    wheels = len(outcome.distributions.wheels)
    files = sum(len(wheel.files) for wheel in outcome.distributions.wheels)
    counts = Counter(finding.severity for finding in outcome.judged.findings)
    found = ", ".join(f"{counts[severity]} {severity.value}s" for severity in Severity)
    sdists = f" and {len(outcome.distributions.sdists)} sdists" if outcome.distributions.sdists else ""
    return f"{wheels} wheels{sdists}, {files} files: {found}, {len(outcome.judged.excused)} excused"


def _paint(text: str, code: str, colour: bool) -> str:
    return f"{code}{text}{RESET}" if colour else text
