"""Fetches the wheels that corpus.py reads, and makes an environment with lief, which it compares with.

    python3 -m tests.e2e.windows.corpus_wheels DIRECTORY

`DIRECTORY/wheels` has the wheels (550 MB) and CPython itself, `DIRECTORY/readers` is the environment. What is there is
not fetched again.
"""

import subprocess
import sys
import venv
from pathlib import Path

from tests.e2e.windows.machine import fetch, fetch_wheels, unpack_python

HERE = Path(__file__).parent
#: Locked: what is published tomorrow may have other peculiarities, which are no concern of this project's CI.
WHEELS = HERE / "corpus.txt"
READERS = HERE / "readers.txt"
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
LOCKED = ("--no-deps", "--only-binary=:all:", "--require-hashes")


def main() -> None:
    """Fetch."""
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    fetch_wheels(WHEELS, directory / "wheels")
    fetch(directory / "python")
    unpack_python(directory / "python", directory / "wheels")
    python = directory / "readers/bin/python"
    if not python.exists():
        venv.create(directory / "readers", with_pip=True)
    subprocess.run([python, *PIP, "install", *LOCKED, f"--requirement={READERS}"], check=True)


if __name__ == "__main__":
    main()
