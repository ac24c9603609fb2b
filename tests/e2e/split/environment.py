"""Fetches what programs of this folder split and run in, and runs them there.

    python3 -m tests.e2e.split.environment DIRECTORY --fetch VERSION NAME…
    python3 -m tests.e2e.split.environment DIRECTORY tests.e2e.split.wheels --wheels DIRECTORY/wheels comfy-kitchen

The first command fetches what NAME.txt locks, `programs` or `wheels`, for a version of Python. The second one makes an
environment of the programs, where there need be no network, and runs a module in it. Both need the standard library
alone.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.testing.commands import fetch_locked

HERE = Path(__file__).parent
LOCKED = ("--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes")


def run(directory: Path, module: str, arguments: Sequence[str]) -> int:
    """Run a program in an environment with what was fetched; returns its exit code."""
    # Settings of the machine's own pip may name what is not here.
    alone = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str((directory / "programs").resolve()),
    }
    with tempfile.TemporaryDirectory(prefix="rocm-split-") as folder:
        python = Path(folder, "bin/python")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        command = (python, "-m", "pip", "install", *LOCKED, f"--requirement={HERE / 'programs.txt'}")
        subprocess.run(command, check=True, env={**os.environ, **alone})
        # What fetches more, asks the machine's indexes.
        own = alone if module.endswith(".wheels") else {}
        return subprocess.run(
            [python, "-B", "-m", module, *arguments], check=False, env={**os.environ, **own}
        ).returncode


def main() -> int:
    """Fetch, or run a program."""
    directory, what, *rest = sys.argv[1:]
    if what == "--fetch":
        for name in rest[1:]:
            fetch_locked(HERE / f"{name}.txt", Path(directory) / name, rest[0])
        return 0
    return run(Path(directory), what, rest)


if __name__ == "__main__":
    sys.exit(main())
