"""What a check of `rocm-sdk doctor` yields, and how findings are printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

#: The worst first.
SEVERITIES = ("problem", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """What was found: `severity` is one of SEVERITIES, `text` says what is, `remedy` what to do."""

    name: str
    severity: str
    text: str
    remedy: str = ""


def how_many(files: Sequence[str]) -> str:
    """Return what to add to a text that names the first of some files: how many there are, if there are more."""
    return f" ({len(files)} such files in all)" if len(files) > 1 else ""


def format_findings(findings: Sequence[Finding], *, as_json: bool = False) -> str:
    """Return the findings in words, or as a JSON object."""
    counts = {f"{name}s": sum(finding.severity == name for finding in findings) for name in ("problem", "warning")}
    if as_json:
        return json.dumps({**counts, "findings": [asdict(finding) for finding in findings]}, indent=2)
    lines = []
    for finding in findings:
        lines.append(f"{finding.severity}: {finding.name}: {finding.text}")
        lines += [f"    {finding.remedy}"] if finding.remedy else []
    ends = [f"{count} {name if count != 1 else name[:-1]}" for name, count in counts.items()]
    return "\n".join([*lines, ", ".join(ends)])
