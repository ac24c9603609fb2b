"""Reading and editing RECORD, the list of an installed distribution's files (PEP 376, "Recording installed projects").

A devel tree that unpacks itself adds its files there, so that `pip uninstall` removes them. Everything here is pure but
`read_record`; how a RECORD is replaced is in `devel.replace`.
"""

from __future__ import annotations

import csv
import io
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


def format_record(rows: Iterable[Row]) -> str:
    """Return the text of a RECORD file with these rows."""
    text = io.StringIO(newline="")
    # Lines end as csv and pip end them: with another end it would not quote a name that has a carriage return.
    csv.writer(text).writerows((row.path, row.digest, row.size) for row in rows)
    return text.getvalue()


def replace_below(rows: Iterable[Row], tree: str, paths: Iterable[str]) -> list[Row]:
    """Replace the rows of `tree` and below by the sorted `paths`, without hashes; return all rows."""
    kept = [row for row in rows if not is_below(row.path, tree)]
    return kept + [Row(path) for path in sorted(paths)]


def is_below(path: str, tree: str) -> bool:
    """Return whether `path` is the directory `tree` or lies in it; both are relative paths with `/`."""
    return path.rstrip("/") == tree or path.startswith(tree + "/")
