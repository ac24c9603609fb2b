"""Checks that linker scripts lead to a library: text files that stand for links, as a plain devel package has them."""

import posixpath
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from lib.pack.linker_script import read_linker_script
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.suite import Collector
from wheels.verify.wheel_set.loader import inside
from wheels.verify.wheel_set.model import Package

LEADS_NOWHERE: Final = Rule(
    "S155",
    Severity.ERROR,
    "a linker script leads to a file that no package has",
    why="Whoever links with the library gets an error of the linker's.",
    remedy="Ship the library that the script names, or leave the script out.",
)
RULES: Final = (LEADS_NOWHERE,)
SCRIPT: Final = "linker script"
#: Our linker scripts are smaller, in bytes.
_MAX_SIZE: Final = 1 << 12


def _wants(path: str, size: int, head: bytes) -> bool:
    return head.startswith(b"/*") and size <= _MAX_SIZE and (".so" in posixpath.basename(path) or path.endswith(".a"))


def _read(file: BinaryIO, path: str) -> str | None:
    return read_linker_script(file.read())


def check_linker_scripts(packages: Sequence[Package]) -> Iterator[Finding]:
    """Check the linker scripts of each package against all packages of the set: users have those that they link."""
    there = {path for package in packages for path in package.files}
    for package in packages:
        for path, facts in sorted(package.files.items()):
            target = facts.collected.get(SCRIPT)
            if isinstance(target, str) and inside(posixpath.join(posixpath.dirname(path), target)) not in there:
                yield LEADS_NOWHERE.finding(package.filename, path, f"leads to {target}")


COLLECTORS: Final = (Collector(SCRIPT, _wants, inspect=_read),)
