"""Lists that say what a wheel offers of its package's tree, as far as that is there: JSON, one object each."""

from collections.abc import Iterable
from typing import Any

from lib.common.program import ToolError, named, note, read_document


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


def note_missing(label: str, what: str, path: str, key: str, rows: Iterable[dict[str, Any]]) -> None:
    """Say which rows of a list are left out, because the package does not ship what they name.

    Rows that are `optional` are left out without a message: one list serves several versions of an SDK, or parts of it.
    """
    if missing := [f"{row[key]} ({row['path']})" for row in rows if not row.get("optional")]:
        note(
            label,
            f"{len(missing)} {what} of {path} are left out, because the package does not ship them: {named(missing)}. "
            'Correct the paths, or add `"optional": true` to what an SDK need not have',
        )
