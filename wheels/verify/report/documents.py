"""Findings for other programs: plain JSON, and SARIF 2.1.0 (OASIS), which code review tools show."""

import json
from typing import Any, Final
from urllib.parse import quote

from wheels.verify.engine import Outcome
from wheels.verify.finding import Finding, Rule

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "severity": finding.severity.value,
        "title": finding.rule.title,
        "wheel": finding.wheel,
        "file": finding.file,
        "targets": list(finding.targets),
        "evidence": finding.evidence,
        "remedy": finding.remedy,
    }


def render_json(outcome: Outcome) -> str:
    """Return findings, and those that exceptions excuse with the reason, as a JSON document."""
    document = {
        "version": 1,
        "wheels": [
            {"filename": wheel.filename, "size": wheel.size, "files": len(wheel.files)}
            for wheel in outcome.distributions.wheels
        ],
        "sdists": [path.name for path in outcome.distributions.sdists],
        "findings": [_finding(finding) for finding in outcome.judged.findings],
        "excused": [_finding(one) | {"reason": exception.reason} for one, exception in outcome.judged.excused],
    }
    return json.dumps(document, indent=1) + "\n"


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
