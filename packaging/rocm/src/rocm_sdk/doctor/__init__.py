"""Finds what on the machine keeps the packages from working, and says what to do: `rocm-sdk doctor`.

`rocm-sdk test` checks the packages themselves, file by file. Here it is the machine and the environment, and what the
other commands know of the packages.

- `examine`     the table of all checks; `examine()` runs them,
- `facts`       what the checks look at, gathered once,
- `gpus`        GPUs: are there any, may this user open them, do variables hide them,
- `packages`    the packages: versions, places, missing files, the compiler, the development tree,
- `loading`     libraries: do they load here, is there only one HIP,
- `other_rocm`  another ROCm on the machine; frameworks for CUDA, or with a HIP of their own.

Each check is a function from `Facts` to findings, which are below. A problem breaks something. A warning may be as you
want it. A note is only to be known.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

#: The worst first.
SEVERITIES = ("problem", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """A finding: `severity` is one of SEVERITIES, `text` says what was found, `remedy` what to do."""

    name: str
    severity: str
    text: str
    remedy: str = ""


def how_many(files: Sequence[str]) -> str:
    """Return what to add to a text that names the first of some files: how many there are, if there are more."""
    return f" ({len(files)} such files in all)" if len(files) > 1 else ""


def format_findings(findings: Sequence[Finding], *, as_json: bool = False, width: int = 0) -> str:
    """Return the findings in words, at most `width` columns wide unless that is 0, or as a JSON object."""
    counts = {f"{name}s": sum(finding.severity == name for finding in findings) for name in ("problem", "warning")}
    if as_json:
        return json.dumps({**counts, "findings": [asdict(finding) for finding in findings]}, indent=2)
    lines = []
    for finding in findings:
        lines += _fold(f"{finding.severity}: {finding.name}: {finding.text}", "", "  ", width)
        # A command, which begins with a small letter, stays on one line: users copy it.
        is_sentence = finding.remedy[:1].isupper()
        lines += _fold(finding.remedy, "    ", "    ", width if is_sentence else 0) if finding.remedy else []
    ends = [f"{count} {name if count != 1 else name[:-1]}" for name, count in counts.items()]
    return "\n".join([*lines, ", ".join(ends)])


def _fold(text: str, first: str, others: str, width: int) -> list[str]:
    """Return a text in lines of at most `width` columns with these indents; one line if `width` is 0."""
    if not width or len(first) + len(text) <= width:
        return [first + text]
    import textwrap

    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
