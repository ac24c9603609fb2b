"""The programs that requirements.txt locks, in an environment of their own, and how to run them."""

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run(*command: object) -> str:
    """Run a command and return what it said; its failure ends the program with that."""
    result = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stdout}")
    return result.stdout


@dataclass(frozen=True)
class Tools:
    """The installed programs."""

    #: The folder that they are in.
    programs: Path
    #: What pydistcheck shall not complain about.
    pydistcheck: Path


def make_tools(folder: Path, pydistcheck: str) -> Tools:
    """Install the locked tools; `pydistcheck` names a file of exceptions beside this one."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    run(programs / "python", "-m", "pip", "install", "--quiet", "--require-hashes", "-r", HERE / "requirements.txt")
    return Tools(programs, HERE / pydistcheck)
