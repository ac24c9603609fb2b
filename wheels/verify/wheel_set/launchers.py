"""Checks that launchers can start their program. A launcher replaces a link; it contains the path of a program."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Final

from lib.elf.reader import is_elf, read_elf
from lib.elf.source import ElfError, Source
from lib.pack.launcher import PE_SECTION, SECTION
from lib.pe.reader import is_pe, read_pe
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.suite import Collector
from wheels.verify.wheel_set.closure import closure
from wheels.verify.wheel_set.loader import inside
from wheels.verify.wheel_set.model import Package

STARTS_NOTHING = Rule(
    "S124",
    Severity.ERROR,
    "a launcher starts nothing that can be executed",
    why="Whoever calls the program gets an error of the launcher's.",
    remedy="Package the program that the link leads to, with mode 0755, in this package or a package that it requires.",
)
RULES: Final = (STARTS_NOTHING,)
LAUNCHER: Final = "launcher"
#: No launcher is bigger, in bytes.
_MAX_SIZE: Final = 1 << 16
_EXECUTABLE: Final = 0o111


def _wants(path: str, size: int, head: bytes) -> bool:
    return (is_elf(head) or is_pe(head)) and size <= _MAX_SIZE


def read_target(file: BinaryIO, path: str) -> str | None:
    """Return the path that a launcher executes, relative to its own directory; None for any other file."""
    try:
        place = _pe_place(file, path) if is_pe(file.read(2)) else _elf_place(file, path)
        data = Source(file, path).read(*place, SECTION) if place else None
    except ElfError:
        return None  # W401 and W421 say so.
    if data is None:
        return None
    return data.partition(b"\0")[0].decode("utf-8", "backslashreplace")


def _elf_place(file: BinaryIO, path: str) -> tuple[int, int] | None:
    """Return offset and size of the section with the target; None if there is none."""
    sections = read_elf(file, path).section_headers
    return next(((one.offset, one.size) for one in sections if one.name == SECTION), None)


def _pe_place(file: BinaryIO, path: str) -> tuple[int, int] | None:
    sections = [one for one in read_pe(file, path).sections if one.name == PE_SECTION and one.pointer_to_raw_data]
    return next(((one.begin, min(one.size_of_raw_data, one.size_in_memory)) for one in sections), None)


def check_launchers(packages: Sequence[Package], names: Mapping[str, Sequence[Package]]) -> Iterator[Finding]:
    """Check the launchers of each package against what is installed with it."""
    for package in packages:
        launchers = {
            path: facts.collected.get(LAUNCHER)
            for path, facts in package.files.items()
            if package.is_windows or facts.pe is None
        }
        there = {path: facts for one in closure(package, names) for path, facts in one.files.items()}
        for path, target in sorted((path, target) for path, target in launchers.items() if isinstance(target, str)):
            started = inside(posixpath.join(posixpath.dirname(path), target)) if target else None
            facts = there.get(started) if started else None
            if facts is None:
                evidence = f"starts {target!r}, and no package that is installed with it has {started}"
                yield STARTS_NOTHING.finding(package.filename, path, evidence)
            elif facts.mode and not facts.mode & _EXECUTABLE and not package.is_windows:
                evidence = f"starts {started}, whose mode is {facts.mode & 0o7777:04o}"
                yield STARTS_NOTHING.finding(package.filename, path, evidence)


COLLECTORS: Final = (Collector(LAUNCHER, _wants, inspect=read_target),)
