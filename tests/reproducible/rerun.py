"""Runs an action that Bazel ran before again, on the same inputs, where all is different.

In another directory, as another user, with another umask, locale, time zone, home and day, on one core, from input
files of other dates and modes. Hash seeds differ in any case: each process draws its own.
"""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Place:
    """Where a file is: relative to the execution root, and in this test's runfiles."""

    execroot: str
    runfiles: Path


@dataclass(frozen=True)
class Recorded:
    """An action as Bazel ran it."""

    mnemonic: str
    argv: list[str]
    inputs: list[Place]
    outputs: list[Place]


def recorded_actions() -> list[Recorded]:
    """Read the record that the rule `recorded_actions` wrote."""

    def places(rows: list[dict[str, str]]) -> list[Place]:
        return [Place(row["execroot"], Path(row["runfiles"]).absolute()) for row in rows]

    rows: list[dict[str, Any]] = json.loads(Path(os.environ["ACTIONS"]).read_text(encoding="utf-8"))
    return [
        Recorded(row["mnemonic"], row["argv"], places(row["inputs"]), places(row["outputs"]))
        for row in sorted(rows, key=lambda row: str(row["outputs"][0]["execroot"]))
    ]


ACTIONS = recorded_actions()


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
    interpreter = action.argv[0].split("/bin/")[0] + "/"
    for number, place in enumerate(action.inputs):
        if not place.execroot.startswith(interpreter):
            target = execroot / place.execroot
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place.runfiles, target)
            target.chmod((0o600, 0o755)[number % 2])
            os.utime(target, (number, 86400 * number))
    for place in action.outputs:
        (execroot / place.execroot).parent.mkdir(parents=True, exist_ok=True)


def contents(path: Path) -> dict[str, bytes]:
    """Read a file, or all files below a directory, by relative path."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return {str(one.relative_to(path)): one.read_bytes() for one in files}


def identity(action: Recorded) -> str:
    """Name an action by what it makes."""
    return f"{action.mnemonic}:{action.outputs[0].execroot.partition('/bin/')[2]}"


def interpreter() -> str:
    """Return the interpreter that runs the tools."""
    argv = ACTIONS[0].argv
    return next((str(one.runfiles) for one in ACTIONS[0].inputs if one.execroot == argv[0]), argv[0])
