"""The differences that there may be between AMD's packages and ours, and the verdict on those that there are.

comparison.toml lists them: `[[difference]]` with `what`, patterns of `distribution`, `path` and `detail` in which
`*` stands for anything, the `reason`, and `input` if only one kind of artifacts has it.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path


@dataclass(frozen=True)
class Difference:
    """What differs at a path of a distribution; `detail` says how."""

    distribution: str
    path: str
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.distribution}: {self.path}: {self.what}: {self.detail}".rstrip(": ")


@dataclass(frozen=True)
class Listed:
    """A difference that may be, and why."""

    what: str
    reason: str
    distribution: str = "*"
    path: str = "*"
    detail: str = "*"
    input: str = ""

    def covers(self, one: Difference) -> bool:
        """Return whether it is this difference."""
        patterns = ((one.distribution, self.distribution), (one.path, self.path), (one.detail, self.detail))
        return one.what == self.what and all(fnmatchcase(text, pattern) for text, pattern in patterns)


def read_list(path: Path, kind: str) -> list[Listed]:
    """Return the differences that a list allows for artifacts of one kind."""
    with path.open("rb") as file:
        entries = [Listed(**entry) for entry in tomllib.load(file)["difference"]]
    return [entry for entry in entries if entry.input in ("", kind)]


def judge(differences: Sequence[Difference], allowed: Iterable[Listed]) -> int:
    """Print each new difference, each listed difference that does not occur, and how many there are by reason.

    Returns the exit code.
    """
    causes = {one: next((entry for entry in allowed if entry.covers(one)), None) for one in differences}
    new = [one for one, cause in causes.items() if cause is None]
    counts = Counter(cause for cause in causes.values() if cause)
    for entry, count in counts.items():
        print(f"{count:6} {entry.what}: {entry.reason}")
    for one in new:
        print(f"NEW    {one}")
    gone = [entry for entry in allowed if entry not in counts]
    for entry in gone:
        print(f"GONE   {entry.what}, {entry.distribution}, {entry.path}, {entry.detail}: remove it from the list")
    print(f"{len(differences)} differences, {len(new)} of them new; {len(gone)} listed ones do not occur")
    return 1 if new or gone else 0
