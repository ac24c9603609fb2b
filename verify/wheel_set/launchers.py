"""Checks that launchers start something: programs that stand in for links, each with the path of what it executes."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Final

from tools.actions.pack.launcher import SECTION
from tools.lib.elf.reader import is_elf, read_elf
from tools.lib.elf.source import ElfError, Source
from verify.finding import Finding, Rule, Severity
from verify.suite import Collector
from verify.wheel_set.closure import closure
from verify.wheel_set.loader import inside
from verify.wheel_set.model import Package

STARTS_NOTHING = Rule(
    "S124",
    Severity.ERROR,
    "a launcher starts nothing that can be executed",
    why="Whoever calls the program gets an error of the launcher's.",
    remedy="Package the program that the link leads to, with mode 0755, in this package or one that it requires.",
)
RULES: Final = (STARTS_NOTHING,)
LAUNCHER: Final = "launcher"
#: No launcher is bigger, in bytes.
_MAX_SIZE: Final = 1 << 16
_EXECUTABLE: Final = 0o111


def _wants(path: str, size: int, head: bytes) -> bool:
    return is_elf(head) and size <= _MAX_SIZE


def read_target(file: BinaryIO, path: str) -> str | None:
    """Return the path that a launcher executes, relative to its own directory; None for any other file."""
    try:
        sections = read_elf(file, path).section_headers
        section = next((one for one in sections if one.name == SECTION), None)
        if section is None:
            return None
        data = Source(file, path).read(section.offset, section.size, SECTION)
    except ElfError:
        return None  # W401 says so.
    return data.partition(b"\0")[0].decode("utf-8", "backslashreplace")


def check_launchers(packages: Sequence[Package], names: Mapping[str, Sequence[Package]]) -> Iterator[Finding]:
    """Check the launchers of each package against what is installed with it."""
    for package in packages:
        launchers = {path: facts.collected.get(LAUNCHER) for path, facts in package.files.items()}
        there = {path: facts for one in closure(package, names) for path, facts in one.files.items()}
        for path, target in sorted((path, target) for path, target in launchers.items() if isinstance(target, str)):
            started = inside(posixpath.join(posixpath.dirname(path), target)) if target else None
            facts = there.get(started) if started else None
            if facts is None:
                evidence = f"starts {target!r}, and no package that is installed with it has {started}"
                yield STARTS_NOTHING.finding(package.filename, path, evidence)
            elif facts.mode and not facts.mode & _EXECUTABLE:
                evidence = f"starts {started}, whose mode is {facts.mode & 0o7777:04o}"
                yield STARTS_NOTHING.finding(package.filename, path, evidence)


COLLECTORS: Final = (Collector(LAUNCHER, _wants, inspect=read_target),)
