"""W505 to W517: nothing in a wheel that was not meant to be published, and nothing where other packages have theirs."""

from collections.abc import Iterator
from typing import Final

from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import Wheel, is_driver_name, is_path_file
from wheels.verify.settings import Settings

CONFIGURED_PATH = Rule(
    "W505",
    "a configuration file with a path of the machine that built it",
    severity=Severity.WARNING,
    why="Programs that read it look for files at a path that users do not have.",
    remedy="Write the path relative to the file, or the name alone. The setting build_paths says what counts.",
)
COMMON = Rule(
    "W512",
    "a name at the top that other packages use, too",
    why="`tests` or `docs` overwrites what another package installed there.",
    remedy="Move it into the package, or leave it out.",
)
RUNS_CODE = Rule(
    "W517",
    "a .pth file that runs code",
    severity=Severity.WARNING,
    why="Every start of the interpreter runs it, also of programs that never import the package. That is how packages "
    "attack, and how they slow down and break others.",
    remedy="Run the code when the package is imported. If it is necessary, declare an exception.",
)
NAMES: Final = frozenset((
    ".eggs", ".nox", ".tox", ".venv", "app", "benchmark", "benchmarks", "bin", "build", "cli", "data", "dist", "doc",
    "docs", "etc", "example", "examples", "include", "lib", "lib64", "node_modules", "scripts", "setup.py", "share",
    "src", "test", "tests", "tools", "util", "utils", "venv",
))  # fmt: skip


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at what the files are, what they hold, and where they lie."""
    del settings
    for facts in wheel.files.values():
        driver = (facts.content or b"").decode("utf-8", "replace").strip() if is_driver_name(facts.path) else ""
        if driver.startswith("/") or facts.build_paths:
            evidence = driver or ", ".join(facts.build_paths[:3])
            yield CONFIGURED_PATH.finding(wheel.filename, facts.path, evidence)
    yield from _places(wheel)


def _places(wheel: Wheel) -> Iterator[Finding]:
    """Look at the places of the files."""
    installed = {wheel.installed(path) or "": path for path in wheel.files}
    tops: dict[str, str] = {}
    for place in sorted(installed):
        tops.setdefault(place.partition("/")[0], installed[place])
    for top in sorted(NAMES & tops.keys()):
        yield COMMON.finding(wheel.filename, tops[top], f"{top!r} is at the top of site-packages")
    for path, facts in wheel.files.items():
        if facts.content and is_path_file(path):
            for number, line in enumerate(facts.content.decode(errors="replace").splitlines(), 1):
                if line.startswith(("import ", "import\t")):
                    yield RUNS_CODE.finding(wheel.filename, path, f"line {number}: {line[:60]!r}")
