"""Makes the tables of docs/reference/verify-rules.md out of the rules of rocm-wheels verify."""

from collections.abc import Mapping
from typing import Final

from wheels.verify.exceptions import FORM
from wheels.verify.finding import Rule

#: The page, from the top of the workspace.
PAGE: Final = "docs/reference/verify-rules.md"
BEGIN: Final = "<!-- rules: made by `bazel run //develop/reference:update` -->\n"
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
