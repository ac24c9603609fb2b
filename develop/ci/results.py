"""Counts tests that passed, failed and were skipped."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Count:
    """Results, to be added up."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Count") -> "Count":
        """Add the counts of another check."""
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        """Say the closing line."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
