"""Every form of the report has all findings, and is what readers of that form expect."""

import json
from pathlib import Path

import pytest

from develop.testing.wheel_sample import METADATA, Sample
from wheels.verify import registry, report
from wheels.verify.engine import Outcome, Request, verify
from wheels.verify.exceptions import DeclaredException

#: A name that a URL cannot hold as it is.
ODD = "sample/odd & <name>\x01 é.txt"
FILES = {"sample/__init__.py": b"", "tests/a.py": b"#", ODD: b"odd", "sample.pth": b"import sample\n"}


@pytest.fixture
def outcome(tmp_path: Path) -> Outcome:
    sample = Sample(FILES, metadata=METADATA.partition("\n\n")[0] + "\n")
    (tmp_path / sample.filename).write_bytes(sample.build())
    excuse = DeclaredException("W517", "it is wanted", file="sample.pth")
    return verify([tmp_path], Request(exceptions=(excuse,), processes=1))


def test_the_sample_has_one_finding_of_each_severity(outcome: Outcome) -> None:
    found = [(one.id, one.severity.value) for one in outcome.judged.findings]
    assert found == [("W109", "error"), ("W309", "note"), ("W512", "error")]


def test_text_is_grouped_and_has_remedies(outcome: Outcome) -> None:
    lines = report.render(outcome).splitlines()
    assert lines[0] == Sample().filename
    assert "  W512 error: a name at the top that other packages use, too" in lines
    assert "    tests/a.py: 'tests' is at the top of site-packages" in lines
    assert lines[-1] == "1 wheel, 8 files: 2 errors, 0 warnings, 1 note, 1 excused"
    assert "\x01" not in report.render(outcome, everything=True)
    assert "because it is wanted" in report.render(outcome, everything=True)


def test_sarif_has_rules_results_and_suppressions(outcome: Outcome) -> None:
    log = json.loads(report.render_sarif(outcome, registry.rules()))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(registry.rules())
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    assert [result["level"] for result in run["results"]] == ["error", "note", "error", "warning"]
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.startswith(f"{Sample().filename}!/sample/odd%20%26")
    assert run["results"][-1]["suppressions"] == [{"kind": "external", "justification": "it is wanted"}]


def test_names_that_are_no_text_are_reported_in_every_form(tmp_path: Path) -> None:
    data = Sample({"sample/é.txt": b""}).build().replace("é".encode(), b"\xff\xff")
    path = tmp_path / Sample().filename
    path.write_bytes(data)
    outcome = verify([path], Request(processes=1))
    assert "W109" in {finding.id for finding in outcome.judged.findings}
    rules = registry.rules()
    for text in (report.render(outcome, everything=True), report.render_sarif(outcome, rules)):
        assert text.encode("utf-8")
