"""Python packages inside a tree that users import: a path configuration file tells Python where they are.

https://docs.python.org/3/library/site.html: each line of `NAME.pth` in site-packages is a directory, relative to it,
that is searched after site-packages itself. So a package of that name that a user installs is found first, and stays.
"""

from collections.abc import Iterable
from typing import Any

from lib.common.program import ToolError
from lib.plan.model import Plan
from lib.wheel.metadata_writer import check_requirements
from lib.wheel.wheel_writer import WheelMember, text_member
from tools.actions.link.listed_rows import listed_rows, note_missing


def shipped_packages(listed: str, plan: Plan, label: str) -> list[dict[str, Any]]:
    """Return the rows of a list of Python packages that the tree has; the others it says in a note."""
    rows = listed_rows(listed, "package", "python_packages")
    files = {entry.path for entry in plan.entries if entry.is_packed_file}
    found = [row for row in rows if f"{row['path']}/{row['package']}/__init__.py" in files]
    note_missing(label, "Python packages", listed, "package", [row for row in rows if row not in found])
    return found


def requirements(rows: Iterable[dict[str, Any]], distribution: str) -> tuple[str, ...]:
    """Return what the Python packages require, each once. Raises ToolError unless each is a list of PEP 508's."""
    lists = [row.get("requires", []) for row in rows]
    if not all(isinstance(one, list) and all(isinstance(name, str) for name in one) for one in lists):
        raise ToolError(
            f"{distribution}: python_packages: expected `requires` to be a list of requirements. Correct it"
        )
    found = [requirement for one in lists for requirement in one]
    check_requirements(tuple(found), distribution)
    return tuple(dict.fromkeys(found))


def path_file(rows: Iterable[dict[str, Any]], tree: str, import_name: str) -> list[WheelMember]:
    """Return the path configuration file for Python packages of a tree; none without any."""
    lines = dict.fromkeys(f"{tree}/{row['path']}\n" for row in rows)
    return [text_member(f"{import_name}.pth", "".join(lines).encode())] if lines else []
