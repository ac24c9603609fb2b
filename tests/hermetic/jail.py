"""Runs a command where nothing is to be seen but what is given to it: a sandbox stricter than Bazel's.

    jail = jail_for(interpreter)
    result = jail.run([jail.interpreter, "-I", "-S", "tool.pyz"], execroot, {})

The command sees, of the machine, the interpreter with its library and the libraries of the system (/lib, /usr/lib):
no /bin, no /etc, no /home. Its working directory is /execroot, the directory that was given to it; it cannot write
anywhere else but to a /tmp of its own, which is empty. HOME is an empty directory. Only its own processes are in /proc.
The only network interface is the loopback one, and that is down. It is root there, without any of root's powers. All
that it may not depend on is other than in a build: umask, locale, time zone and day; and it has one core. Hash seeds
differ in any case, as each process draws its own.

The namespaces that this takes need no privilege of the machine; some machines forbid them even so, see `refusal`.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.hermetic.enter import CLOCK, FAILED

#: Where libraries of the system are, or links to where they are.
SYSTEM = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32")
NAMESPACES = ("--user", "--map-root-user", "--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child")
SECONDS = 120
UMASK = 0o077
#: How much later `tests/reproducible/clock.c` makes it, in seconds.
LATER = 400 * 24 * 60 * 60
ENVIRONMENT = {
    "COLUMNS": "40",
    "HOME": "/home",
    "LC_ALL": "en_US.iso88591",
    "LD_PRELOAD": CLOCK,
    "LOGNAME": "somebody",
    "TZ": "KTM-5:45",
    "USER": "somebody",
}

Result = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Jail:
    """A place to run commands of an interpreter in."""

    #: The interpreter's real path.
    interpreter: str
    #: Absolute paths that are visible.
    visible: tuple[str, ...]
    #: The library that turns the clock.
    clock: str

    def run(self, command: list[str], execroot: Path, environment: Mapping[str, str]) -> Result:
        """Run a command of which nothing is left but what it wrote to the execution root."""

        def one_core() -> None:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

        with tempfile.TemporaryDirectory() as root:
            spec = {
                "clock": self.clock,
                "command": command,
                "environment": {**ENVIRONMENT, **environment},
                "execroot": str(execroot),
                "root": root,
                "visible": self.visible,
            }
            enter = [self.interpreter, "-I", "-S", "-B", str(Path(__file__).with_name("enter.py")), json.dumps(spec)]
            return subprocess.run(
                ["unshare", *NAMESPACES, *enter],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="backslashreplace",
                timeout=SECONDS,
                umask=UMASK,
                preexec_fn=one_core,
                check=False,
            )

    def refusal(self) -> str:
        """Say why this machine does not let us run commands so; empty if it does."""
        if not shutil.which("unshare"):
            return "no `unshare` (util-linux) on PATH"
        with tempfile.TemporaryDirectory() as execroot:
            result = self.run([self.interpreter, "-I", "-S", "-c", ""], Path(execroot), {})
        return f"exit code {result.returncode}: {result.stderr.strip()}" if result.returncode else ""


def failed_itself(result: Result) -> bool:
    """Tell whether there was no jail to run the command in."""
    return result.returncode == FAILED


def jail_for(interpreter: str, clock: Path) -> Jail:
    """Return the jail for the commands of an interpreter, whose clock a library turns."""
    real = os.path.realpath(interpreter)
    command = [real, "-I", "-S", "-c", "import sys; print(sys.base_prefix)"]
    prefix = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    visible = [path for path in SYSTEM if Path(path).is_dir()]
    for path in (real, os.path.realpath(f"{prefix}/lib")):
        if not any(Path(path).is_relative_to(one) for one in visible):
            visible.append(path)
    return Jail(real, tuple(visible), str(clock.resolve()))
