"""The checks of `rocm-sdk test`: is this installation whole, and does it work.

It needs no GPU, and changes nothing but the development tree, which it makes if need be.

- `run`        lists the checks of what is installed, runs several at a time and reports; libraries: do they load,
- `packages`   the packages as such: versions, the chosen target, RECORD, who owns what, the development tree,
- `scripts`    console scripts: do they answer; Python packages: can they be imported.

Each check is a function that returns a remark, or raises. Below is what they share. `rocm-sdk doctor` looks at the
machine around it instead.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

PROCESS_TIMEOUT_SECONDS = 300
#: What code begins with: with `-c`, Python looks for modules in the current directory, whoever wrote those.
_SAFE_PATH = "import sys; sys.path[:] = [path for path in sys.path if path]\n"


class FailureError(Exception):
    """The check found what should not be; the text says what and what to do."""


class SkipError(Exception):
    """The check does not apply to this installation; the text says why."""


@dataclass(frozen=True)
class Check:
    """A named check; `run` returns a remark, which may be empty, and raises FailureError or SkipError.

    What is `first` is done before any other begins: it may change what the others look at.
    """

    name: str
    run: Callable[[], str]
    first: bool = False


def plain_environment() -> dict[str, str]:
    """Return this process's environment without what changes which libraries a program loads."""
    return {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}


def run_python(code: str, *arguments: str, isolated: bool = False, environ: Mapping[str, str] | None = None) -> str:
    """Run Python code in a process of its own and return what it prints; FailureError with its last words if it fails.

    `isolated` leaves out site-packages, for code that does not need them: it starts in half the time. `environ` is the
    process's environment, `plain_environment()` if it is not given.
    """
    options = ["-I", "-S"] if isolated else []
    done = subprocess.run(
        [sys.executable, *options, "-c", _SAFE_PATH + code, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=plain_environment() if environ is None else environ,
        timeout=PROCESS_TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise FailureError(words[-1] if words else describe_status(done.returncode))
    return done.stdout.decode("utf-8", "surrogateescape")


def describe_status(status: int) -> str:
    """Return words for how a process ended; a negative status is the signal that ended it."""
    return f"the process was ended by signal {-status}" if status < 0 else f"the process ended with status {status}"
