"""Runs an action that Bazel ran before again, on the same inputs, where all is different.

In another directory, as another user, with another umask, locale, time zone, home and day, on one core, from input
files of other dates and modes. Hash seeds differ in any case: each process draws its own.
"""

import os
import shutil
import subprocess
from pathlib import Path

from tests.reproducible.recorded import Recorded, read_record

CLOCK = Path(os.environ["CLOCK"]).absolute()
#: How much later `clock.c` makes it, in seconds.
LATER = 400 * 24 * 60 * 60
UMASK = 0o077
ENVIRONMENT = {
    "COLUMNS": "40",
    "HOME": "/nonexistent",
    "LC_ALL": "en_US.iso88591",
    "LD_PRELOAD": str(CLOCK),
    "LOGNAME": "somebody",
    "TZ": "Asia/Kathmandu",
    "USER": "somebody",
}


ACTIONS = read_record(Path(os.environ["ACTIONS"]))


def different_user() -> list[str]:
    """Return what runs a command as nobody in particular (a user namespace without a map), nothing where that fails."""
    command = ["unshare", "--user"]
    if not shutil.which("unshare") or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        return []
    return command


DIFFERENT_USER = different_user()


def run(command: list[str], directory: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command where all is different, with further variables."""

    def one_core() -> None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    # The interpreter is a link in the runfiles; it finds its library from where it really is.
    command = [*DIFFERENT_USER, str(Path(command[0]).resolve()), *command[1:]]
    return subprocess.run(
        command,
        cwd=directory,
        env=ENVIRONMENT | variables,
        umask=UMASK,
        preexec_fn=one_core,
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
    )


def stage(action: Recorded, execroot: Path) -> None:
    """Copy the inputs of an action, with other dates and modes, and make the folders of its outputs."""
    for number, place in enumerate(action.files):
        for target in place.copied_to(execroot):
            target.chmod((0o600, 0o755)[number % 2])
            os.utime(target, (number, 86400 * number))
    for place in action.outputs:
        (execroot / place.execroot).parent.mkdir(parents=True, exist_ok=True)


def interpreter() -> str:
    """Return the interpreter that runs the tools."""
    return ACTIONS[0].interpreter
