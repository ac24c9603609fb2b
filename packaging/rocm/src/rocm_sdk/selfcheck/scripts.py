"""Checks of the console scripts that the packages' metadata declares: each is there, and answers."""

from __future__ import annotations

import json
import os
import re
import site
import subprocess
import tempfile
from configparser import ConfigParser
from pathlib import Path
from textwrap import shorten

from ..installation import InstalledPackage
from ..system import PROGRAM_SUFFIX, noexec
from . import FailureError, SkipError, describe_status, plain_environment, run_python

SCRIPTS_FILE = "console_scripts.json"
TIMEOUT_SECONDS = 120
# How much of a tool's words a message repeats; Perl's go on with all directories that it searched.
SAID_CHARACTERS = 160
# Every tool takes this, does nothing else then, and needs no GPU for it; what it prints or returns is its own affair.
QUESTION = "--help"
# What shells and env(1) return if a program, or the interpreter that it names, cannot be run (POSIX, "Exit Status").
_NOT_RUN = (126, 127)
# What Python, Perl and ld.so print about a tool that lacks a part of itself, not a GPU or a driver.
_BROKEN = re.compile(
    r"^(ImportError|ModuleNotFoundError|SyntaxError|FileNotFoundError|PermissionError|OSError): |^Can't locate |"
    r": error while loading shared libraries: |: version `\w+?_[0-9.]+' not found \(required by "
)


def list_scripts(package: InstalledPackage) -> list[tuple[str, str]]:
    """Return the console scripts of a package's metadata with the tool that each runs, relative to its tree or ''."""
    entry_points = ConfigParser(delimiters=("=",), interpolation=None)
    entry_points.optionxform = str  # type: ignore[assignment,method-assign]
    entry_points.read(package.dist_info / "entry_points.txt", encoding="utf-8")
    scripts = list(entry_points["console_scripts"]) if entry_points.has_section("console_scripts") else []
    table = package.site / package.names.import_name / SCRIPTS_FILE
    tools = json.loads(table.read_text("utf-8")) if package.names.import_name and table.is_file() else []
    paths = {tool["script"]: str(tool["path"]) for tool in tools}
    return [(script, paths.get(script, "")) for script in sorted(scripts)]


def check_script(package: InstalledPackage, script: str, tool: str) -> str:
    """Check that the script and the tool that it runs are there and executable, and that it answers `--help`."""
    status = ask(find_script(package, script, tool), package.names.distribution)
    return f"{tool}, status {status}" if status else tool


def find_script(package: InstalledPackage, script: str, tool: str) -> Path:
    """Return the file of a script; raises FailureError if it, or its tool, is missing, another's, or not executable."""
    if not package.record.is_file():
        raise SkipError(f"{package.dist_info} has no RECORD, which would say where the script is")
    names = (f"{script}{PROGRAM_SUFFIX}", script)
    rows = [row.path for row in package.rows() if row.path.rpartition("/")[2] in names]
    files = [package.locate(path) for path in rows if not path.startswith(package.names.tree + "/")]
    if not files:
        raise FailureError(f"RECORD lists no script {script}. Reinstall {package.names.distribution}.")
    if not _is_of(files[0], package):
        # What lies there is another's: it is not run.
        raise FailureError(f"{files[0]} is not the script of {package.names.distribution}. Reinstall the package.")
    wanted = files + ([package.tree / f"{tool}{PROGRAM_SUFFIX}"] if tool else [])
    bad = [str(path) for path in wanted if not os.access(path, os.X_OK)]
    if bad:
        remedy = noexec(bad[0]) or f"Reinstall {package.names.distribution}."
        raise FailureError(f"missing or not executable: {', '.join(bad)}. {remedy}")
    return files[0]


def _is_of(script: Path, package: InstalledPackage) -> bool:
    """Return whether an installer wrote this script for a package, or there is none. They name what it calls."""
    return not script.is_file() or package.names.import_name.encode() in script.read_bytes()


def ask(script: Path, distribution: str, question: str = QUESTION, *, strict: bool = False, **variables: str) -> int:
    """Run the script in an empty directory with one harmless question and return its status; FailureError if it cannot.

    A status other than 0 is an answer too, unless this is `strict`: some tools have none without a GPU. `variables` are
    set in the environment.
    """
    with tempfile.TemporaryDirectory(prefix="rocm-sdk-test-") as empty:
        try:
            done = subprocess.run(
                [str(script), question],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**plain_environment(), **variables},
                cwd=empty,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise FailureError(f"{script} {question} did not end within {TIMEOUT_SECONDS} s.") from None
    words = done.stdout.decode("utf-8", "replace").strip().splitlines()
    broken = [line for line in words if _BROKEN.search(line)] if done.returncode else []
    if done.returncode < 0 or done.returncode in _NOT_RUN or broken or (strict and done.returncode):
        said = f", saying: {shorten((broken or words)[-1], SAID_CHARACTERS).rstrip('.')}" if words else ""
        raise FailureError(
            f"{script} {question}: {describe_status(done.returncode)}{said}. Install what it misses, or reinstall "
            f"{distribution}."
        )
    return done.returncode


# Checks of the Python packages inside a package's tree, which its build lists: each can be imported.

PACKAGES_FILE = "python_packages.json"
_IMPORT = "import importlib; print(importlib.import_module(sys.argv[1]).__file__)"


def list_python_packages(package: InstalledPackage) -> list[tuple[str, str]]:
    """Return the names of a package's Python packages, and their directories, relative to its tree.

    What is optional counts if it is there.
    """
    table = package.site / package.names.import_name / PACKAGES_FILE
    rows = json.loads(table.read_text("utf-8")) if package.names.import_name and table.is_file() else []
    found = [(row["package"], f"{row['path']}/{row['package']}", row.get("optional", False)) for row in rows]
    return [(name, path) for name, path, optional in found if not optional or (package.tree / path).is_dir()]


def check_import(package: InstalledPackage, name: str, directory: str) -> str:
    """Check that a Python package can be imported, with the libraries that it loads then; return where from."""
    distribution, ours = package.names.distribution, package.tree / directory / "__init__.py"
    if not ours.is_file():
        raise SkipError(f"this build of {distribution} has no {directory}")
    try:
        found = Path(run_python(_IMPORT, name).splitlines()[-1])
    except FailureError as reason:
        if f"No module named '{name}'" in str(reason) and not reads_path_files(package.site):
            where = f"Python reads no .pth file in {package.site}"
            raise SkipError(f"{where}. Add {ours.parent.parent} to PYTHONPATH") from None
        remedy = f"Install what it misses, or reinstall {distribution}."
        raise FailureError(f"import {name}: {str(reason).rstrip('.')}. {remedy}") from None
    return directory if found.resolve() == ours.resolve() else f"{found}, which comes before that of {distribution}"


def reads_path_files(directory: Path) -> bool:
    """Return whether Python reads `.pth` files in a directory: not where only PYTHONPATH leads to it."""
    places = [*site.getsitepackages(), site.getusersitepackages()]
    return os.path.realpath(directory) in map(os.path.realpath, places)
