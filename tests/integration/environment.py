"""A fresh virtual environment into which the distributions of a build are installed, offline."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

#: What a forwarder, a library of about 1 KB that brings another, says of itself in its section .comment.
FORWARDER = b"rules_rocm_python forwarder\0"
#: Loads one library, in a process that ends with it.
LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
DIST = Path(os.environ["DIST"]).absolute()


def is_forwarder(path: Path) -> bool:
    """Whether a library is a forwarder: it stands for a link, which a wheel cannot hold."""
    return path.stat().st_size < 4096 and FORWARDER in path.read_bytes()


class Environment:
    """A virtual environment; pip of the test's own interpreter fills it."""

    def __init__(self, directory: Path) -> None:
        """Make the environment, without a pip of its own."""
        self.directory = directory
        venv.create(directory, symlinks=True, with_pip=False)
        self.python = directory / "bin" / "python"
        self.site_packages = Path(
            sysconfig.get_path("purelib", "venv", vars={"base": str(directory), "platbase": str(directory)})
        )
        self.variables = {
            "HOME": str(directory),
            "PATH": "/usr/bin:/bin",
            "PIP_NO_INPUT": "1",
            "PIP_CONFIG_FILE": os.devnull,
        }

    def pip(self, *arguments: str, **variables: str) -> str:
        """Run pip on the environment; only the distributions of the build can be found."""
        command = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(self.python),
            "--disable-pip-version-check",
            "--no-cache-dir",
        ]
        return self._run([*command, *arguments], variables)

    def uv(self, *arguments: str, **more: str) -> str:
        """Run a `uv` command that works on the environment."""
        variables = {"PATH": os.environ["PATH"], "VIRTUAL_ENV": str(self.directory), "UV_NO_CONFIG": "1", **more}
        return self._run(["uv", "--no-cache", *arguments], variables | {"UV_PYTHON_DOWNLOADS": "never"})

    def install(self, *requirements: str, **variables: str) -> str:
        """Installs from the directory of the build and from nowhere else."""
        return self.pip("install", "--no-index", f"--find-links={DIST}/index.html", *requirements, **variables)

    def run(self, program: str | Path, *arguments: str) -> str:
        """Run a program of the environment: a console script by its name, anything else by its path."""
        return self._run([str(self.directory / "bin" / program), *arguments], {})

    def python_prints(self, code: str, *arguments: str | Path) -> str:
        """Run a piece of Python in the environment and return what it prints."""
        return self.run("python", "-c", code, *map(str, arguments))

    def load(self, library: Path) -> None:
        """Load a library in a process of its own, with LD_LIBRARY_PATH unset."""
        self.run("python", "-c", LOAD, str(library))

    def _run(self, command: list[str], variables: dict[str, str]) -> str:
        result = subprocess.run(command, capture_output=True, text=True, env=self.variables | variables, check=False)
        assert result.returncode == 0, f"{command}: exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    def distributions(self) -> set[str]:
        """Return the names of what is installed."""
        return {path.name.partition("-")[0] for path in self.site_packages.glob("*.dist-info")}

    def files(self) -> list[str]:
        """Everything below site-packages, as relative paths."""
        return sorted(str(path.relative_to(self.site_packages)) for path in self.site_packages.rglob("*"))
