"""Checks file names of packages for Windows: NTFS must accept and distinguish them, and paths must fit.

Microsoft, "Naming Files, Paths, and Namespaces": https://learn.microsoft.com/windows/win32/fileio/naming-a-file.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Final

from lib.common.program import ToolError
from lib.plan.model import LEFT_OUT, Entry, Kind, Plan, Treatment

#: Names of devices, whatever follows a dot.
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[1-9¹²³]|lpt[1-9¹²³])(?:\..*)?", re.IGNORECASE)
_FORBIDDEN: Final = re.compile(r'[\x00-\x1f<>:"\\|?*]')
#: Of one name, in UTF-16 units.
_LONGEST_NAME: Final = 255
#: Of a path in site-packages, in UTF-16 units: MAX_PATH without its NUL, less `C:\v\Lib\site-packages\`.
LONGEST_PATH: Final = 259 - 23
#: Treatments of paths that are not there when the package is installed or unpacked.
_ABSENT: Final = LEFT_OUT | {Treatment.ALIAS_OF}


def units_of(text: str) -> int:
    """Return how long a name or path is for Windows: in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def upper_of(path: str) -> str:
    """Return a path as NTFS compares it: character by character."""
    return "".join(upper if len(upper := one.upper()) == 1 else one for one in path)


def is_device(name: str) -> bool:
    """Return whether Windows takes a name for a device's, such as `con` or `lpt1.txt`."""
    return _DEVICES.fullmatch(name) is not None


def reason_against(name: str) -> str:
    """Return why Windows has no file of a name; empty if it may."""
    if found := _FORBIDDEN.search(name):
        return f"has {found[0]!r}, which no name may have"
    if is_device(name):
        return "is the name of a device"
    if name.endswith((".", " ")):
        return "ends in a dot or space, which Windows leaves out"
    return f"is longer than {_LONGEST_NAME} characters" if units_of(name) > _LONGEST_NAME else ""


def _check_name(entry: Entry, tree: str, package: str) -> None:
    remedy = f"Give it another name, or exclude {entry.path} from package {package}"
    for name in entry.path.split("/"):
        if reason := reason_against(name):
            raise ToolError(f"{entry.source}: {name!r} {reason}; expected names that Windows can have. {remedy}")
    if (units := units_of(posixpath.join(tree, entry.path))) > LONGEST_PATH:
        raise ToolError(
            f"{entry.source}: its path in site-packages has {units} characters; expected at most "
            f"{LONGEST_PATH}, because Windows allows 259 with the path of site-packages. {remedy}"
        )


def check_windows_names(entries: Iterable[Entry], tree: str, package: str, builds_on: Sequence[Plan]) -> None:
    """Raise ToolError for a name that Windows cannot have, and for two that it cannot tell apart.

    Packages of `builds_on` may share the tree.
    """
    of_others = [one for plan in builds_on if plan.tree == tree for one in plan.entries if one.is_packed_file]
    own = [entry for entry in entries if entry.treatment not in _ABSENT]
    files: dict[str, Entry] = {}
    directories: dict[str, Entry] = {}
    for entry in own:
        _check_name(entry, tree, package)
    for entry in [*of_others, *own]:
        parent = entry.path
        while parent := posixpath.dirname(parent):
            directories.setdefault(upper_of(parent), entry)
        if entry.kind is not Kind.DIRECTORY:
            other = files.setdefault(upper_of(entry.path), entry)
            if other is not entry:
                _raise_alike(entry, other, package)
    for upper, entry in files.items():
        if upper in directories:
            _raise_alike(directories[upper], entry, package)


def _raise_alike(entry: Entry, other: Entry, package: str) -> None:
    raise ToolError(
        f"{entry.path}: from {entry.source}; Windows takes it, or its directory, for {other.path}, from "
        f"{other.source}; expected paths that differ in more than case. Give one another name, or exclude it from "
        f"package {package}"
    )
