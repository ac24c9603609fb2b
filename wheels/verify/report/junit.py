"""Findings as JUnit XML, for CI: a test suite per wheel, a test case per rule; what is found is a failure.

A rule that finds nothing is a case that passes, so that the counts say how much was looked at. Notes do not fail.
"""

from collections import defaultdict
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from wheels.verify.engine import Outcome
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.report.xml_text import clean

#: The identifiers of rules about a wheel by itself begin with this letter; other rules are about the set.
PER_WHEEL: Final = "W"


def render(outcome: Outcome, rules: dict[str, Rule]) -> str:
    """Return the XML document."""
    found: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in outcome.judged.findings:
        found[finding.wheel if finding.id.startswith(PER_WHEEL) else "", finding.id].append(finding)
    root = Element("testsuites", name="rocm-wheels verify")
    for wheel in (*(wheel.filename for wheel in outcome.distributions.wheels), ""):
        cases = {
            rule.id: found[wheel, rule.id] for rule in rules.values() if rule.id.startswith(PER_WHEEL) == bool(wheel)
        }
        _suite(root, wheel or "the set", cases, rules)
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: Element, name: str, cases: dict[str, list[Finding]], rules: dict[str, Rule]) -> None:
    failed = [identifier for identifier, findings in cases.items() if _fails(findings)]
    suite = SubElement(root, "testsuite", name=name, tests=str(len(cases)), failures=str(len(failed)), errors="0")
    for identifier, findings in cases.items():
        case = SubElement(suite, "testcase", classname=name, name=f"{identifier} {rules[identifier].title}")
        text = "\n".join(" ".join(part for part in (one.wheel, one.file, one.said) if part) for one in findings)
        if _fails(findings):
            failure = SubElement(case, "failure", type=identifier, message=clean(f"{len(findings)} found"))
            failure.text = clean(f"{text}\nremedy: {rules[identifier].remedy}")
        elif findings:
            SubElement(case, "system-out").text = clean(text)


def _fails(findings: list[Finding]) -> bool:
    return any(finding.severity is not Severity.NOTE for finding in findings)
