"""Reading RECORD, the list of an installed distribution's files (PEP 376, "Recording installed projects")."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One file: its path relative to site-packages with `/`, its hash `algorithm=digest` and its size, both or none."""

    path: str
    digest: str = ""
    size: str = ""


def read_record(path: Path) -> list[Row]:
    """Return the rows of a RECORD file; raises OSError if it cannot be read."""
    with open(path, encoding="utf-8", newline="") as lines:
        return parse_record(lines)


def parse_record(lines: Iterable[str]) -> list[Row]:
    """Return the rows of a RECORD file's lines, which have their line ends; empty lines are passed over."""
    return [Row(*[*row, "", ""][:3]) for row in csv.reader(lines) if row]


def is_below(path: str, tree: str) -> bool:
    """Return whether `path` is the directory `tree` or lies in it; both are relative paths with `/`."""
    return path.rstrip("/") == tree or path.startswith(tree + "/")
