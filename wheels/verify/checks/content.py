"""W501 to W517: nothing in a wheel that was not meant to be published, and nothing where other packages have theirs."""

import posixpath
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from packaging.utils import canonicalize_name

from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import MODULE, Wheel, is_driver_name, is_path_file
from wheels.verify.settings import Settings

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
EMPTY = Rule(
    "W511",
    Severity.ERROR,
    "installs nothing",
    why="Beside its .dist-info directory the wheel has no file, or only the empty file that marks the tree of an SDK's "
    "package.",
    remedy="Find out why the build packaged nothing.",
)
COMMON = Rule(
    "W512",
    Severity.ERROR,
    "a name at the top that many packages would like to have",
    why="`tests` or `docs` overwrites what another package installed there.",
    remedy="Move it into the package, or leave it out.",
)
NOT_IMPORTABLE = Rule(
    "W513",
    Severity.NOTE,
    "a module that cannot be imported",
    why="A part of its path is no identifier, so no import statement can name it.",
    remedy="Rename it, or ship it as data.",
)
INIT = Rule(
    "W514",
    Severity.ERROR,
    "__init__.py at the top",
    why="It makes site-packages itself a package and clashes with every other wheel that has this fault.",
    remedy="Put it into a directory of its own.",
)
SAME = Rule(
    "W515",
    Severity.NOTE,
    "files of the same content",
    why="Each is downloaded and stored: a link was turned into copies, perhaps, or a file was packaged twice.",
    remedy="Keep one of them, and let the others be launchers, forwarders or small wrappers.",
)
NO_MODULE = Rule(
    "W516",
    Severity.NOTE,
    "a file at the top that is no module",
    why="Nothing finds it there, and other packages may bring one of the same name.",
    remedy="Put it into the package.",
)
RUNS_CODE = Rule(
    "W517",
    Severity.WARNING,
    "a .pth file that runs code",
    why="Every start of the interpreter runs it, also of programs that never import the package. That is how packages "
    "attack, and how they slow down and break others.",
    remedy="Run the code when the package is imported. If it has to be so, declare an exception.",
)
NAMES: Final = frozenset((
    ".eggs", ".nox", ".tox", ".venv", "app", "benchmark", "benchmarks", "bin", "build", "cli", "data", "dist", "doc",
    "docs", "etc", "example", "examples", "include", "lib", "lib64", "node_modules", "scripts", "setup.py", "share",
    "src", "test", "tests", "tools", "util", "utils", "venv",
))  # fmt: skip


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at what the files are, what they hold, and where they lie."""
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
    yield from _places(wheel)
    yield from _same(wheel, settings.duplicate_size)


def _places(wheel: Wheel) -> Iterator[Finding]:
    """Look at the places of the files."""
    installed = {wheel.installed(path) or "": path for path in wheel.files}
    own = [path for path in wheel.files if not path.partition("/")[0].endswith(".dist-info")]
    marks = [path for path in own if _is_mark(path, wheel)]
    # A wheel without files may be there for what it requires; a package of an SDK is not.
    if wheel.files and own == marks and wheel.metadata and (marks or not wheel.metadata.requires_dist):
        evidence = f"{len(wheel.files) - len(marks)} files, all in {wheel.dist_info}"
        yield EMPTY.finding(wheel.filename, "", ", and ".join([evidence, *marks]))
    tops: dict[str, str] = {}
    for place in sorted(installed):
        tops.setdefault(place.partition("/")[0], installed[place])
    for top in sorted(NAMES & tops.keys()):
        yield COMMON.finding(wheel.filename, tops[top], f"{top!r} is at the top of site-packages")
    if "__init__.py" in installed:
        yield INIT.finding(wheel.filename, installed["__init__.py"], "is at the top of site-packages")
    for place, path in installed.items():
        if MODULE.search(place) and (wrong := _no_identifier(place)):
            yield NOT_IMPORTABLE.finding(wheel.filename, path, f"{wrong!r} is no identifier")
        if place and "/" not in place and not place.endswith((".py", ".so", ".pyd", ".pth")):
            yield NO_MODULE.finding(wheel.filename, path, "is at the top of site-packages")
    for path, facts in wheel.files.items():
        if facts.content and is_path_file(path):
            for number, line in enumerate(facts.content.decode(errors="replace").splitlines(), 1):
                if line.startswith(("import ", "import\t")):
                    yield RUNS_CODE.finding(wheel.filename, path, f"line {number}: {line[:60]!r}")


def _is_mark(path: str, wheel: Wheel) -> bool:
    """Whether a file is the empty mark with which an SDK's package owns its tree: `{tree}/.{distribution}`."""
    name = posixpath.basename(path)
    return name.startswith(".") and canonicalize_name(name[1:]) == wheel.name and not wheel.files[path].size


def _no_identifier(place: str) -> str:
    """Return the part of a module's path that cannot be imported, of those that a package's path must have."""
    return next((part for part in MODULE.sub("", place).split("/") if not part.isidentifier()), "")


def _same(wheel: Wheel, least: int) -> Iterator[Finding]:
    copies: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for facts in wheel.files.values():
        if facts.sha256 and facts.size >= max(least, 1):
            copies[facts.sha256, facts.size].append(facts.path)
    for (_, size), paths in sorted(copies.items(), key=lambda item: item[1]):
        if len(paths) > 1:
            evidence = f"{len(paths)} files of {size} bytes: {', '.join(paths[:3])}"
            yield SAME.finding(wheel.filename, paths[1], evidence)
