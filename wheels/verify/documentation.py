"""Writes the tables of rules in docs/reference/verify-rules.md.

    bazel run //wheels/verify:documentation          # writes docs/reference/verify-rules.md anew
    python3 -m wheels.verify.documentation FILE

The tables are made of the rules themselves; a test compares them with the file.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from wheels.verify import registry
from wheels.verify.finding import Rule
from wheels.verify.foreign_wheels import FORM

BEGIN: Final = "<!-- rules: made by `bazel run //wheels/verify:documentation` -->\n"
END: Final = "<!-- end of rules -->\n"
GROUPS: Final = {
    "W1": "The archive",
    "W2": "RECORD",
    "W3": "Metadata",
    "W4": "ELF files and PE images",
    "W5": "Content",
    "S": "Over the set",
    "D": "Device code",
    "R": "Since the last release",
    "X": "Exceptions",
}


def table(rules: Mapping[str, Rule]) -> str:
    """Return all rules as Markdown, a table per group."""
    lines = []
    for prefix, title in GROUPS.items():
        found = [rule for rule in rules.values() if rule.id.startswith(prefix)]
        if found:
            lines += [f"## {title}", "", "| id | severity | what is wrong | why | remedy |", "|---|---|---|---|---|"]
            lines += [_row(rule) for rule in found]
            lines.append("")
    return "\n".join(lines)


def _row(rule: Rule) -> str:
    severity = f"{rule.severity.value}; for third-party wheels a note" if rule.id in FORM else rule.severity.value
    cells = [rule.id, severity, rule.title, rule.why, rule.remedy]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;") for cell in cells) + " |"


def updated(text: str, rules: Mapping[str, Rule]) -> str:
    """Return the page with the table made anew. Raises ValueError when the page has no place for it."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"expected a line {BEGIN!r} and a line {END!r}")
    return f"{before}{BEGIN}\n{table(rules)}\n{END}{after}"


def main(argv: list[str]) -> int:
    """Write the named page, or the workspace's page, anew."""
    default = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), "docs/reference/verify-rules.md")
    path = Path(argv[0]) if argv else default
    path.write_text(updated(path.read_text(encoding="utf-8"), registry.rules()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
