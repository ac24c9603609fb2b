"""The Python interpreters of the machine that packages can be tried with: `chosen` picks those for a matrix."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

#: What `Requires-Python` of all packages says.
OLDEST = (3, 9)


def interpreters() -> dict[tuple[int, int], Path]:
    """Return the interpreters at hand that the packages support, by version."""
    named = [shutil.which(f"python3.{minor}") for minor in range(9, 20)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [sys.executable, *filter(None, named), *map(str, sorted(pyenv.glob("versions/*/bin/python")))]
    found: dict[tuple[int, int], Path] = {}
    for candidate in candidates:
        if version := version_of(candidate):
            found.setdefault(version, Path(candidate))
    return {version: path for version, path in sorted(found.items()) if version >= OLDEST}


def version_of(program: str) -> tuple[int, int] | None:
    """Return an interpreter's version; None if it does not run, as a shim of pyenv may not."""
    code = "import sys; print(*sys.version_info[:2])"
    result = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
    numbers = re.fullmatch(r"(\d+) (\d+)\n", result.stdout)
    return (int(numbers[1]), int(numbers[2])) if numbers else None


def _named(program: str) -> tuple[tuple[int, int], Path]:
    path = shutil.which(program)
    version = version_of(path) if path else None
    if path is None or version is None:
        sys.exit(f"{program}: does not run; expected a Python interpreter, by its path or on PATH")
    return version, Path(path).absolute()


def chosen(named: list[str]) -> dict[tuple[int, int], Path]:
    """Return the interpreters to test: those named, else the oldest, 3.11 and the newest at hand.

    Ends the program if a named interpreter does not run.
    """
    if named:
        return dict(_named(program) for program in named)
    found = interpreters()
    wanted = [*list(found)[:1], (3, 11), *list(found)[-1:]]
    return {version: found[version] for version in dict.fromkeys(wanted) if version in found}
