"""Python packages inside a tree that users import: a path configuration file tells Python where they are.

https://docs.python.org/3/library/site.html: each line of `NAME.pth` in site-packages is a directory, relative to it,
that is searched after site-packages itself. So a package of that name that a user installs is found first, and stays.
"""

from tools.actions.link.listed_rows import listed_rows, note_missing
from tools.actions.plan.model import Plan
from tools.lib.wheel.wheel_writer import WheelMember, text_member


def path_file(listed: str, plan: Plan, import_name: str, label: str) -> list[WheelMember]:
    """Return the path configuration file for the Python packages of a list that the tree has; none without any."""
    rows = listed_rows(listed, "package", "python_packages")
    files = {entry.path for entry in plan.entries if entry.is_packed_file}
    found = [row for row in rows if f"{row['path']}/{row['package']}/__init__.py" in files]
    note_missing(label, "Python packages", listed, "package", [row for row in rows if row not in found])
    lines = dict.fromkeys(f"{plan.tree}/{row['path']}\n" for row in found)
    return [text_member(f"{import_name}.pth", "".join(lines).encode())] if lines else []
