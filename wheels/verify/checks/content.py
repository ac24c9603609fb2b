"""W501 to W505: nothing in a wheel that was not meant to be published."""

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import FileFacts, Wheel, is_driver_name
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
SECRET = Rule(
    "W503",
    Severity.ERROR,
    "what looks like a secret",
    why="What is published once cannot be taken back.",
    remedy="Withdraw the credential, then remove it. If it is an example or a test's, declare an exception.",
)
BUILD_PATH = Rule(
    "W504",
    Severity.NOTE,
    "a path of the machine that built it",
    why="It names users and places, makes builds differ, and may be looked up on the user's machine.",
    remedy="Compile with -ffile-prefix-map=OLD=NEW; correct generated files. The setting build_paths says what counts.",
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
#: In these, paths like /home/user/… are examples for people, or code that handles them.
PROSE: Final = (".py", ".pyi", ".md", ".rst", ".txt", ".html", ".htm", ".ipynb", ".1", "METADATA", "RECORD")
#: Configuration by its name, or by the directory that it is in.
CONFIGURATION: Final = (".cfg", ".cmake", ".conf", ".icd", ".ini", ".json", ".la", ".pc", ".toml", ".yaml", ".yml")
CONFIGURATION_DIRECTORY: Final = "etc"


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at what the files are and what they hold."""
    del settings
    for facts in wheel.files.values():
        parts = facts.path.split("/")
        if "__pycache__" in parts or facts.path.endswith((".pyc", ".pyo")):
            yield COMPILED.finding(wheel.filename, facts.path, "made by an interpreter")
        elif found := [part for part in parts if any(fnmatchcase(part, pattern) for pattern in LEFTOVERS)]:
            yield LEFTOVER.finding(wheel.filename, facts.path, f"{found[0]!r} is one by its name")
        yield from _strings(wheel, facts)


def _strings(wheel: Wheel, facts: FileFacts) -> Iterator[Finding]:
    for match in facts.strings.secrets:
        shown = match.text[:4] + "…"  # Not in full: findings are published as well.
        yield SECRET.finding(wheel.filename, facts.path, f"{match.kind} at byte {match.offset}: {shown!r}")
    paths = sorted({match.text for match in facts.strings.build_paths})
    driver = (facts.content or b"").decode("utf-8", "replace").strip() if is_driver_name(facts.path) else ""
    if driver.startswith("/") or (paths and _is_configuration(facts)):
        yield CONFIGURED_PATH.finding(wheel.filename, facts.path, driver or ", ".join(paths[:3]))
    elif paths and not posixpath.basename(facts.path).endswith(PROSE):
        offset = facts.strings.build_paths[0].offset
        yield BUILD_PATH.finding(wheel.filename, facts.path, f"{', '.join(paths[:3])}; the first at byte {offset}")


def _is_configuration(facts: FileFacts) -> bool:
    directories = facts.path.split("/")[:-1]
    is_one = facts.path.endswith(CONFIGURATION) or CONFIGURATION_DIRECTORY in directories
    return is_one and not (facts.elf or facts.pe or (directories and directories[0].endswith(".dist-info")))


SUITE = Suite((COMPILED, LEFTOVER, SECRET, BUILD_PATH, CONFIGURED_PATH), check_wheel=check)
