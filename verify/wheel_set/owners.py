"""Checks that each path has one owner.

Installers overwrite in silence, and whoever is uninstalled first takes the file along.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from verify.finding import Finding, Rule, Severity
from verify.wheel_set.model import Package

TWO_OWNERS = Rule(
    "S121",
    Severity.ERROR,
    "a path belongs to two distributions",
    why="The one installed last overwrites the other's file, and uninstalling either breaks the one that stays.",
    remedy="Leave the file to one of them, and let the other require it.",
)
FILE_AND_DIRECTORY = Rule(
    "S122",
    Severity.ERROR,
    "a path is a file in one distribution and a directory in another",
    why="Installing the second one fails.",
    remedy="Rename one of them.",
)
COMMAND = Rule(
    "S123",
    Severity.ERROR,
    "two distributions install a command of the same name",
    why="The one installed last overwrites the other's, and uninstalling either removes it.",
    remedy="Leave the command to one of them.",
)
RULES: Final = (TWO_OWNERS, FILE_AND_DIRECTORY, COMMAND)


def check_owners(packages: Sequence[Package]) -> Iterator[Finding]:
    """Check all packages; those of one name are never installed together."""
    owners: dict[str, Package] = {}
    for package in packages:
        for path in package.files:
            other = owners.setdefault(path, package)
            if other.name != package.name:
                evidence = f"also in {other.filename}, {_compared(other, package, path)}"
                yield TWO_OWNERS.finding(package.filename, path, evidence)
    for package in packages:
        yield from _unpacked(package, owners)
    yield from _directories(packages, owners)
    commands: dict[str, Package] = {}
    for package in packages:
        for command in package.scripts:
            other = commands.setdefault(command, package)
            if other.name != package.name:
                yield COMMAND.finding(package.filename, "", f"the command {command} is also in {other.filename}")


def _compared(one: Package, other: Package, path: str) -> str:
    return "with the same content" if one.files[path].sha256 == other.files[path].sha256 else "with other content"


def _unpacked(package: Package, owners: Mapping[str, Package]) -> Iterator[Finding]:
    """Look for what the development tree would write over when it is unpacked."""
    devel = package.devel
    for path in sorted({*devel.files, *devel.links} if devel else ()):
        other = owners.get(path)
        if other is not None and other.name != package.name:
            evidence = f"the archive unpacks to it, and it is in {other.filename}"
            yield TWO_OWNERS.finding(package.filename, path, evidence)


def _directories(packages: Sequence[Package], owners: Mapping[str, Package]) -> Iterator[Finding]:
    """Look for directories that are files elsewhere; each is reported once per distribution."""
    for package in packages:
        found = set()
        for path in package.files:
            directory = path.rpartition("/")[0]
            while directory and directory not in found:
                other = owners.get(directory)
                if other is not None and other.name != package.name:
                    found.add(directory)
                    evidence = f"a directory here (it has {path}), and a file of {other.filename}"
                    yield FILE_AND_DIRECTORY.finding(package.filename, directory, evidence)
                directory = directory.rpartition("/")[0]
