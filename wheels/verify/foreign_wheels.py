"""Third-party wheels: whoever verifies them can neither rebuild nor change them.

What would break an installation stays what it is. What is about form alone, and what only their authors can decide, is
a note for them.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from wheels.verify.finding import Finding, Severity

#: The rules about form; docs/release/verify.md explains the choice.
FORM: Final = frozenset(
    {
        "W119",  # Data descriptors and comments: installers read them.
        "W111",  # Limits: the program that verifies has them, not whoever built the wheel.
        "W113",
        "W112",  # Installers set modes anew, except the executable bit.
        "W116",
        "W206",  # Lines of RECORD that pip and uv accept.
        "W305",  # Installers take the tags of the file name.
        "W306",
        "W311",  # The wheel for another platform may have the import.
        "W307",  # Licences.
        "S161",
        "S162",
        "S163",
        "W407",  # Size: debug information, leftovers, code for other GPUs.
        "W408",  # What needs it is built already: S101 says whether it is found.
        "W422",
        "W501",
        "W502",
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
