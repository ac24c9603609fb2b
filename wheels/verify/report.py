"""Writes the findings of `verify`: as text for people, and as SARIF 2.1.0 (OASIS) for programs.

People get findings by wheel and rule, the remedy once per rule.
"""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final
from urllib.parse import quote

from lib.common.program import counted
from wheels.verify.engine import Outcome
from wheels.verify.finding import Finding, Rule, Severity

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def render_sarif(outcome: Outcome, rules: dict[str, Rule]) -> str:
    """Return a SARIF log with one run. What exceptions excuse is in it as suppressed results."""
    order = {identifier: index for index, identifier in enumerate(rules)}
    results = [_result(finding, order) for finding in outcome.judged.findings]
    for finding, exception in outcome.judged.excused:
        suppression = {"kind": "external", "justification": exception.reason}
        results.append(_result(finding, order) | {"suppressions": [suppression]})
    driver = {"name": "rocm-wheels verify", "rules": [_rule(rule) for rule in rules.values()]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _result(finding: Finding, order: dict[str, int]) -> dict[str, Any]:
    """Return one result; a file in a wheel is given as a location in it, `wheel!/file`, as archives are in URLs."""
    place = "!/".join(part for part in (finding.wheel, finding.file) if part)
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "ruleIndex": order[finding.id],
        "level": finding.severity.value,
        "message": {"text": f"{finding.rule.title}: {finding.said}. {finding.remedy}"},
    }
    if place:
        result["locations"] = [
            {
                "physicalLocation": {"artifactLocation": {"uri": quote(place, safe="/!", errors="surrogateescape")}},
                "logicalLocations": [{"fullyQualifiedName": place}],
            }
        ]
    return result


#: Of one rule in one wheel so many files are shown, unless all are asked for.
SHOWN: Final = 10


def render(outcome: Outcome, *, everything: bool = False) -> str:
    """Return the report; with `everything`, all files of every finding, and what exceptions excuse."""
    lines: list[str] = []
    for wheel, in_wheel in groupby(outcome.judged.findings, key=lambda one: one.wheel):
        lines.append(wheel or "the set")
        for rule, found in groupby(in_wheel, key=lambda one: one.rule):
            lines.append(f"  {rule.id} {rule.severity.value}: {rule.title}")
            lines += [*_files(list(found), everything=everything), f"    remedy: {rule.remedy}"]
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
    files = sum(len(wheel.files) for wheel in outcome.distributions.wheels)
    counts = Counter(finding.severity for finding in outcome.judged.findings)
    found = ", ".join(counted(counts[severity], severity.value) for severity in Severity)
    sdists = len(outcome.distributions.sdists)
    both = counted(len(outcome.distributions.wheels), "wheel") + (f" and {counted(sdists, 'sdist')}" if sdists else "")
    return f"{both}, {counted(files, 'file')}: {found}, {len(outcome.judged.excused)} excused"
