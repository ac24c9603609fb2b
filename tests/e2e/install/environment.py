"""A virtual environment that one installer fills, and what must hold of its files at any time.

    environment = Environment(directory, Path("/usr/bin/python3"), Installer("uv 0.13", Path("uv"), is_uv=True))

Nothing reaches a network: all comes from directories of distributions.
"""

import base64
import csv
import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: What uv leaves at the top of an environment that it works on.
UV_LOCK = ".lock"


@dataclass(frozen=True)
class Installer:
    """A version of pip, run by the environment's interpreter, or of uv, a program."""

    title: str
    program: Path
    is_uv: bool = False


class Environment:
    """One environment; it begins empty, and `check_untouched` says whether it is so again."""

    def __init__(self, directory: Path, interpreter: Path, installer: Installer) -> None:
        """Make the environment, without a pip of its own."""
        self.directory = directory
        self.installer = installer
        self._run(str(interpreter), "-m", "venv", "--without-pip", str(directory))
        (self.site_packages,) = directory.glob("lib/python*/site-packages")
        self._before = self._files()

    def install(self, dist: Path, *requirements: str) -> None:
        """Install requirements from a directory of distributions; this upgrades or downgrades what is installed."""
        options = ["--no-index", f"--find-links={dist}"]
        self._run(*self._command("install"), *options, *requirements, ROCM_SDK_TARGET_FAMILY=self._target(dist))

    def uninstall(self, *names: str) -> None:
        """Uninstall distributions."""
        self._run(*self._command("uninstall"), *([] if self.installer.is_uv else ["--yes"]), *names)

    def rocm_sdk(self, *arguments: str) -> str:
        """Run the installed `rocm-sdk`; return its output."""
        return self._run(str(self.directory / "bin" / "rocm-sdk"), *arguments)

    def dist_infos(self) -> list[Path]:
        """Return the metadata directories of what is installed."""
        return sorted(self.site_packages.glob("*.dist-info"))

    def distributions(self) -> list[str]:
        """Return the names of the installed distributions, spelled as in their metadata directories."""
        return [path.name.partition("-")[0] for path in self.dist_infos()]

    def check_files(self) -> None:
        """Check that all RECORD files together list just what is there, each file once and with its digest."""
        owners: dict[Path, str] = {}
        for info in self.dist_infos():
            for row in csv.reader((info / "RECORD").read_text(encoding="utf-8").splitlines()):
                path = Path(os.path.normpath(self.site_packages / row[0]))
                assert path not in owners, f"{path}: in {info.name} and in {owners[path]}; expected one owner"
                owners[path] = info.name
                self._check_file(path, row[1], info.name)
        known = {str(path.relative_to(self.directory)) for path in owners}
        files = {path for path in self._files() - self._before if not (self.directory / path).is_dir()}
        stray = sorted(path for path in files - known if "__pycache__" not in path)
        assert not stray, f"{len(stray)} files that no RECORD lists, {stray[:3]} for instance"

    def check_untouched(self, when: str) -> None:
        """Check that the environment is as it was made: no file, no directory more or less.

        RECORD lists no directory, because users may fill one: where the devel tree has an empty one, uv leaves it.
        """
        after = self._files()
        if self.installer.is_uv:
            after -= {path for path in after - self._before if "/_rocm_sdk_devel" in path and not self._has_files(path)}
        assert after == self._before, (
            f"{when}: left {sorted(after - self._before)}, lost {sorted(self._before - after)}"
        )

    def _has_files(self, path: str) -> bool:
        place = self.directory / path
        return not place.is_dir() or any(not one.is_dir() for one in place.rglob("*"))

    def _check_file(self, path: Path, digest: str, owner: str) -> None:
        if path.suffix == ".pyc":
            return  # Anyone may delete or write these at any time.
        assert path.exists(), f"{path}: missing, though {owner} lists it"
        if digest:
            kind, _, expected = digest.partition("=")
            actual = base64.urlsafe_b64encode(hashlib.new(kind, path.read_bytes()).digest()).rstrip(b"=").decode()
            assert actual == expected, f"{path}: not as {owner} lists it"

    def _files(self) -> set[str]:
        """Return all paths below the environment, links not followed."""
        return {
            str(Path(folder, name).relative_to(self.directory))
            for folder, folders, files in os.walk(self.directory)
            for name in folders + files
            if name != UV_LOCK
        }

    def _command(self, verb: str) -> list[str]:
        python = str(self.directory / "bin" / "python")
        if self.installer.is_uv:
            return [str(self.installer.program), "pip", verb, "--python", python, "--no-cache", "--offline"]
        return [python, str(self.installer.program), verb, "--no-cache-dir", "--disable-pip-version-check"]

    @staticmethod
    def _target(dist: Path) -> str:
        """Return the GPU target to choose, so that the machine's own GPU does not decide."""
        return min(
            (path.name.split("-")[0].rpartition("_")[2] for path in dist.glob("rocm_sdk_device_*.whl")), default=""
        )

    def _run(self, *command: str, **variables: str) -> str:
        """Run a command. Raises AssertionError with its output if it fails."""
        # The installers' own files of settings must not lead elsewhere.
        settings = {"HOME": str(self.directory.parent), "PATH": "/usr/bin:/bin", "PIP_CONFIG_FILE": os.devnull}
        settings |= {"UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never", "PIP_NO_INPUT": "1"}
        result = subprocess.run(command, env=settings | variables, capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"{command}: exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result.stdout
