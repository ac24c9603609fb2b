"""Checks that libraries which may be opened at run time by their name (dlopen(3)) are there.

The names are constants of programs and libraries (see `verify.over_set.opened`). Nobody can tell whether one is
opened, and with which directory put before it; so it is enough that the set has a file of that name anywhere.
"""

import posixpath
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from verify.finding import Finding, Rule, Severity
from verify.over_set.model import Package
from verify.over_set.system import system_names
from verify.settings import Settings

NOT_THERE = Rule(
    "S141",
    Severity.WARNING,
    "a library that may be opened at run time is nowhere in the set",
    why="What opens it by this name fails, or does without it, or takes whatever the machine has.",
    remedy="Ship the library under this name, or say in opened_libraries why it need not be there.",
)
RULES: Final = (NOT_THERE,)


def check_opening(packages: Sequence[Package], settings: Settings) -> Iterator[Finding]:
    """Check the names in all programs and libraries; of one package each name is reported once."""
    there = {posixpath.basename(path) for package in packages for path in package.files}
    there |= {linked.soname for package in packages for linked in package.linked.values() if linked.soname}
    for package in packages:
        system = system_names(package, settings)
        having: dict[str, list[str]] = {}
        for path, linked in sorted(package.linked.items()):
            for name in linked.opens:
                declared = any(fnmatchcase(name, pattern) for pattern in settings.opened_libraries)
                if name not in there and not system(name) and not declared:
                    having.setdefault(name, []).append(path)
        for name, paths in sorted(having.items()):
            more = f", and so have {len(paths) - 1} more files" if len(paths) > 1 else ""
            yield NOT_THERE.finding(package.filename, paths[0], f"has the string {name}{more}")
