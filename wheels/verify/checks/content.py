"""W501, W502 and W505: nothing in a wheel that was not meant to be published."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import Wheel, is_driver_name
from wheels.verify.settings import Settings
from wheels.verify.suite import Suite

COMPILED = Rule(
    "W501",
    Severity.WARNING,
    "compiled Python",
    why="It is for one version of the interpreter, records times and paths, and installers make it anew.",
    remedy="Leave __pycache__ and *.pyc out of the package.",
)
LEFTOVER = Rule(
    "W502",
    Severity.WARNING,
    "a leftover of building or editing",
    why="Nobody needs it, and it may tell more than was meant to be told.",
    remedy="Leave it out of the package.",
)
CONFIGURED_PATH = Rule(
    "W505",
    Severity.WARNING,
    "a configuration file that leads to the machine that built it",
    why="What reads it looks for files where users have none, or another's.",
    remedy="Write the path relative to the file, or the name alone. The setting build_paths says what counts.",
)
LEFTOVERS: Final = (
    ".DS_Store",
    "Thumbs.db",
    ".git*",
    ".svn",
    "*~",
    "*.orig",
    "*.rej",
    "*.swp",
    "#*#",
    "*.gcda",
    "*.gcno",
    ".ninja_log",
    ".ninja_deps",
    "CMakeCache.txt",
    "core.[0-9]*",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
)


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at what the files are and what they hold."""
    del settings
    for facts in wheel.files.values():
        parts = facts.path.split("/")
        if "__pycache__" in parts or facts.path.endswith((".pyc", ".pyo")):
            yield COMPILED.finding(wheel.filename, facts.path, "made by an interpreter")
        elif found := [part for part in parts if any(fnmatchcase(part, pattern) for pattern in LEFTOVERS)]:
            yield LEFTOVER.finding(wheel.filename, facts.path, f"{found[0]!r} is one by its name")
        driver = (facts.content or b"").decode("utf-8", "replace").strip() if is_driver_name(facts.path) else ""
        if driver.startswith("/") or facts.build_paths:
            evidence = driver or ", ".join(facts.build_paths[:3])
            yield CONFIGURED_PATH.finding(wheel.filename, facts.path, evidence)


SUITE = Suite((COMPILED, LEFTOVER, CONFIGURED_PATH), check_wheel=check)
