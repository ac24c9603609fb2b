"""Virtual environments for tests, with pip or uv to install into them; nothing reaches the network."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Environment:
    """One virtual environment and the installer that tests use on it."""

    root: Path
    installer: str

    @classmethod
    def create(cls, root: Path, installer: str = "pip") -> Environment:
        """Make an empty environment; skips the test if uv is wanted and not there."""
        if installer == "uv" and find_uv() is None:
            pytest.skip("uv is not installed")
        venv.create(root, symlinks=True, with_pip=False)
        environment = cls(root, installer)
        (environment.site / "README.txt").touch()  # pip removes a site-packages that gets empty
        return environment

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.root / "bin" / "python"

    @property
    def site(self) -> Path:
        """Its site-packages directory."""
        return next(self.root.glob("lib/python*/site-packages"))

    def install(self, index: Path, *requirements: str, check: bool = True, **variables: str) -> str:
        """Install from a directory of distributions and return what was printed; RuntimeError if that fails."""
        options = ["--no-index", "--find-links", str(index)]
        command = [*self._installer("install"), *options, *requirements]
        return self.run(*command, check=check, **{**self._variables(), **variables})

    def uninstall(self, *names: str) -> None:
        """Remove distributions."""
        yes = ["-y"] if self.installer == "pip" else []
        self.run(*self._installer("uninstall"), *yes, *names, check=True, **self._variables())

    def rocm_sdk(self, *arguments: str, check: bool = True, **variables: str) -> str:
        """Run `rocm-sdk` and return what it printed, on either stream."""
        return self.run(str(self.root / "bin" / "rocm-sdk"), *arguments, check=check, **variables)

    def run_code(self, code: str, *arguments: str, check: bool = True, **variables: str) -> str:
        """Run a piece of Python in the environment."""
        return self.run(str(self.python), "-c", code, *arguments, check=check, **variables)

    def run(self, *command: str, check: bool = True, **variables: str) -> str:
        """Run a command without the test's own Python settings; RuntimeError with its output if it fails."""
        ours = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "ROCM_SDK_TARGET_FAMILY", "LD_LIBRARY_PATH")
        inherited = {name: value for name, value in os.environ.items() if name not in ours}
        done = subprocess.run(
            command,
            env={**inherited, **variables},
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        output = done.stdout.decode()
        if check and done.returncode:
            raise RuntimeError(f"{command} ended with {done.returncode}:\n{output}")
        return output

    def files(self) -> set[str]:
        """Return every path in site-packages and bin, relative to the environment, save Python's caches."""
        found = set()
        for top in (self.site, self.root / "bin"):
            for directory, subdirectories, files in os.walk(top):
                subdirectories[:] = [name for name in subdirectories if name != "__pycache__"]
                found |= {(Path(directory) / name).relative_to(self.root).as_posix() for name in files + subdirectories}
        return found

    def check_restored(self, before: set[str]) -> None:
        """Check that there is what was there before, and nothing else."""
        after = self.files()
        assert (after - before, before - after) == (set(), set())

    def _installer(self, verb: str) -> list[str]:
        options = ["--offline", "--python", str(self.python)]
        command = [*self.installer_command(self.installer), verb]
        return [*command, *options] if self.installer == "uv" else [*command, "--disable-pip-version-check"]

    def installer_command(self, installer: str) -> list[str]:
        """Return the command that stands for `pip`, or for `uv pip`, in this environment."""
        return [str(find_uv()), "pip"] if installer == "uv" else [str(self.python), str(pip_runner())]

    def _variables(self) -> dict[str, str]:
        """Give each environment caches of its own, so that tests do not see each other's builds."""
        return {name: str(self.root / "cache") for name in ("PIP_CACHE_DIR", "UV_CACHE_DIR", "HOME")}


def pip_runner() -> Path:
    """Return the file that runs the test's own pip in another interpreter (pip 22.3 or newer)."""
    spec = importlib.util.find_spec("pip")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "__pip-runner__.py"


def find_uv() -> Path | None:
    """Return the uv program beside the test's interpreter or on PATH, or None."""
    beside = Path(sys.executable).parent / "uv"
    found = shutil.which("uv")
    return beside if beside.exists() else Path(found) if found else None
