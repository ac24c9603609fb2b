"""Runs commands for checks, and fills environments of Python."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path


def attempt(*command: object, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command with little of the environment; its exit code is not looked at."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": tempfile.gettempdir(), **variables}
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=False)


def run(*command: object, **variables: str) -> str:
    """Run a command and return what it prints. Raises AssertionError with all that it said if it fails."""
    result = attempt(*command, **variables)
    assert not result.returncode, f"{command}: exit code {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout


def make_environment(directory: Path) -> Path:
    """Make a virtual environment without a pip of its own; return its interpreter."""
    venv.create(directory, symlinks=True, with_pip=False)
    return directory / "bin/python"


def install(python: Path, *arguments: object, **variables: str) -> None:
    """Install into an environment with this machine's pip, and from nowhere but what is named."""
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-cache-dir", "--no-index")
    run(*pip, *arguments, **variables)


def site_packages(python: Path) -> Path:
    """Return where an interpreter has its packages."""
    return Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())


def fetch_locked(lock: Path, directory: Path, version: str, *options: str) -> None:
    """Fetch the wheels that a requirements file locks, for a version of Python, by pip as the machine has set it up.

    Raises CalledProcessError.
    """
    given = ("--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes")
    where = (f"--python-version={version}", f"--dest={directory}", f"--requirement={lock}")
    subprocess.run([sys.executable, "-m", "pip", "download", *given, *options, *where], check=True)
