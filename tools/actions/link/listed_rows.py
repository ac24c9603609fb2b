"""Lists that say what a wheel offers of its package's tree, as far as that is there: JSON, one object each."""

import sys
from collections.abc import Iterable
from typing import Any

from lib.common.program import ToolError, read_document


def listed_rows(path: str, key: str, attribute: str) -> list[dict[str, Any]]:
    """Read a list of objects with `key`, a name that no other has, and `path`, a place in the tree.

    Raises ToolError for anything else; `attribute` is the attribute of `sdk_wheel` that names the file.
    """
    rows = read_document(path)
    is_list = isinstance(rows, list) and all(
        isinstance(row, dict) and all(isinstance(row.get(name), str) for name in (key, "path")) for row in rows
    )
    if not is_list or len({row[key] for row in rows}) != len(rows):
        raise ToolError(
            f"{path}: expected a JSON list of objects with a `{key}` of a name of its own, and its `path`. Correct "
            f"the file that `{attribute}` names"
        )
    return list(rows)


def note_missing(label: str, what: str, rows: Iterable[dict[str, Any]], key: str) -> None:
    """Say which rows are left out, because the package does not ship what they name: an SDK need not have all."""
    if missing := [f"{row[key]} ({row['path']})" for row in rows]:
        print(
            f"NOTE: {label}: {what}, which the package does not ship, are left out: {', '.join(missing)}",
            file=sys.stderr,
        )
