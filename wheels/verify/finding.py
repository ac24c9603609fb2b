"""Rules, each with an identifier that never changes its meaning, and the findings that name them.

    MISSING = Rule("W202", "a file is not in RECORD", why="…", remedy="…")
    yield MISSING.finding(wheel.filename, path, "RECORD has no line for it")

Identifiers: W1xx archive, W2xx RECORD, W3xx metadata, W4xx ELF files, W5xx content, S1xx over the set, D1xx device
code, R1xx since the last release, X1xx exceptions. An identifier that was published is never used for
something else.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass


class Severity(enum.Enum):
    """Severity of a finding. Errors and warnings make the command fail, notes do not."""

    ERROR = "error"
    """Something does not work, or not everywhere, or cannot be trusted."""
    WARNING = "warning"
    """It works, but users or other tools will stumble over it."""
    NOTE = "note"
    """Worth knowing."""


@dataclass(frozen=True)
class Rule:
    """One thing that must hold."""

    id: str
    title: str
    """What is wrong where this is found, in a few words that begin in lower case."""
    why: str
    """Why that is bad, or which standard says so; sentences."""
    remedy: str
    """What to do about it; sentences."""
    severity: Severity = Severity.ERROR

    def finding(self, wheel: str, file: str, evidence: str, targets: Iterable[str] = ()) -> "Finding":
        """Report that the rule is broken: in which wheel, in which file of it, and what shows that.

        `wheel` is a file name, empty for the set as a whole; `file` is a path in the wheel, empty for the wheel as a
        whole; `evidence` says what was found and what was expected; `targets` are the GPU targets that it is about.
        """
        return Finding(self, wheel, file, evidence, tuple(targets))


@dataclass(frozen=True)
class Finding:
    """One fault, whatever it is seen in. Of equal input the findings are equal, also in their order (`sort_key`)."""

    rule: Rule
    wheel: str
    file: str
    evidence: str
    targets: tuple[str, ...] = ()
    """The GPU targets that it is about, each of which an exception can name; empty if it is about none."""

    @property
    def id(self) -> str:
        """The rule's identifier."""
        return self.rule.id

    @property
    def severity(self) -> Severity:
        """The rule's severity."""
        return self.rule.severity

    @property
    def remedy(self) -> str:
        """Remedy of the rule."""
        return self.rule.remedy

    @property
    def said(self) -> str:
        """Text for people: the targets, and the evidence."""
        return f"{', '.join(self.targets)}: {self.evidence}" if self.targets else self.evidence

    @property
    def sort_key(self) -> tuple[str, str, str, str, tuple[str, ...]]:
        """Wheel by wheel, then rule by rule, then file by file."""
        return (self.wheel, self.rule.id, self.file, self.evidence, self.targets)
