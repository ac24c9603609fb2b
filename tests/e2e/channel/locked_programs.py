"""The programs that requirements.txt locks, and pip without the settings of the machine.

    python3 -m tests.e2e.channel.locked_programs MODULE ...

runs a module of this folder with a Python that has all of them.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

#: Keeps pip and uv from settings of the user and the machine; settings in a project's pyproject.toml count.
ALONE = {
    "PIP_CONFIG_FILE": os.devnull,
    "UV_PYTHON_DOWNLOADS": "never",
    "XDG_CONFIG_DIRS": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
}
REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


def in_environment(module: str, arguments: list[str]) -> int:
    """Run a program again, as a module, with `--programs` and a Python that has what is locked; return its status."""
    with tempfile.TemporaryDirectory(prefix="rocm-programs-") as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        requirements = ("--require-hashes", "-r", REQUIREMENTS)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        command = [str(python), "-B", "-m", module, *arguments, f"--programs={python.parent}"]
        return subprocess.run(command, check=False).returncode


def run_alone(*command: object) -> str:
    """Run a program without the machine's own settings of pip and uv; return all that it printed.

    Raises AssertionError with that if it fails.
    """
    own = ("PIP_", "UV_")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    result = subprocess.run(
        [str(part) for part in command],
        env=variables | ALONE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert not result.returncode, f"{command}\n{result.stdout}"
    return result.stdout


def pip_install(python: Path, *arguments: object) -> str:
    """Run `pip install`; return all that it printed."""
    return run_alone(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-cache-dir", *arguments)


if __name__ == "__main__":
    raise SystemExit(in_environment(sys.argv[1], sys.argv[2:]))
