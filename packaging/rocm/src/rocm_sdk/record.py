"""Reading and editing RECORD, the list of an installed distribution's files (PEP 376, "Recording installed projects").

A devel tree that unpacks itself adds its files there, so that `pip uninstall` removes them. RECORD is replaced as a
whole, by rename: a reader, or an interruption, sees the old list or the new one.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# Left beside RECORD only if the process is killed while it writes; the next write takes its place.
TEMPORARY_SUFFIX = ".rocm-sdk-new"


@dataclass(frozen=True)
class Row:
    """One file: its path relative to site-packages with `/`, its hash `algorithm=digest` and its size, both or none."""

    path: str
    digest: str = ""
    size: str = ""


def read_record(path: Path) -> list[Row]:
    """Return the rows of a RECORD file; raises OSError if it cannot be read."""
    with open(path, encoding="utf-8", newline="") as lines:
        return [Row(*[*row, "", ""][:3]) for row in csv.reader(lines) if row]


def replace_below(rows: Iterable[Row], tree: str, paths: Iterable[str]) -> list[Row]:
    """Return `rows` with those of `tree` and below replaced by the sorted `paths`, without hashes."""
    kept = [row for row in rows if not is_below(row.path, tree)]
    return kept + [Row(path) for path in sorted(paths)]


def is_below(path: str, tree: str) -> bool:
    """Return whether `path` is the directory `tree` or lies in it; both are relative paths with `/`."""
    return path.rstrip("/") == tree or path.startswith(tree + "/")


def write_record(path: Path, rows: Iterable[Row]) -> None:
    """Replace the RECORD file `path`, keeping its permissions; raises OSError and leaves the old one if it cannot."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        with open(temporary, "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows((row.path, row.digest, row.size) for row in rows)
            stream.flush()
            os.fchmod(stream.fileno(), path.stat().st_mode & 0o777)
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
