"""A buildbox worker: takes actions from a remote execution service and runs each in bubblewrap.

    worker = Worker(root, directory, "worker1", "http://127.0.0.1:18351").start()
    …
    worker.kill()

It has a CAS of its own that fetches from the service's. An action sees its inputs, and the root's /usr and /etc.
A worker whose session the server has forgotten ends; so a loop starts it again, as a service manager would.
"""

import os
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE
from tests.e2e.testing.servers import Server

#: The program that the worker runs for each action, as the kernel names it: 15 characters.
RUNNER = "buildbox-run-bubblewrap"[:15]
#: Runs its arguments again whenever they end.
SUPERVISED = ("bash", "-c", 'while :; do "$@"; sleep 1; done', "supervisor")


def in_root(root: Path, *command: str) -> list[str]:
    """Return the command that runs another one in a root file system, on the machine's network."""
    return [str(WORKSPACE / "tests/e2e/roots/in_root.sh"), "--network", str(root), *command]


class Worker:
    """One worker with its CAS."""

    def __init__(self, root: Path, directory: Path, name: str, service: str, platform: Mapping[str, str]) -> None:
        self.name = name
        self.log = directory / f"{name}.log"
        self._store = directory / name
        self._socket = directory / f"{name}.sock"
        cas = ("buildbox-casd", f"--bind=unix:{self._socket}", f"--cas-remote={service}", "--quota-high=20G")
        self._cas = Server("the worker's CAS", in_root(root, *cas, str(self._store)), self.log, self._socket.exists)
        run = ["--buildbox-run=/usr/bin/buildbox-run-bubblewrap", "--runner-arg=--staging-mode=copy-or-link"]
        # The runner makes no links, so /bin is a mount; gcc, found there, takes / for its prefix, and wants /libexec.
        # The action's own files are at the top as well: `lib/` of this project must not be under a mount.
        below = ("bin", "libexec", "lib/gcc", "lib/x86_64-linux-gnu")
        merged = [(f"/usr/{name}", f"/{name}") for name in below]
        for source, target in (("/usr", "/usr"), *merged, ("/etc", "/etc")):
            run.append(f"--runner-arg=--ro-bind-mount={source}:{target}")
        if (root / "usr/lib64").exists():
            run.append("--runner-arg=--ro-bind-mount=/usr/lib64:/lib64")
        offers = [part for key, value in sorted(platform.items()) for part in ("--platform", f"{key}={value}")]
        bot = ("buildbox-worker", f"--bots-remote={service}", f"--cas-remote=unix:{self._socket}")
        limits = ("--bots-retry-limit=60", "--max-wait-time=10")
        self._bot = Server("worker", in_root(root, *SUPERVISED, *bot, *run, *limits, *offers, name), self.log)

    def start(self) -> "Worker":
        """Start both."""
        self._socket.unlink(missing_ok=True)
        self._cas.start()
        self._bot.start()
        return self

    def stop(self) -> None:
        """Ask both to end."""
        self._bot.stop()
        self._cas.stop()

    def forget(self) -> None:
        """Remove all blobs that it has; it must not run."""
        shutil.rmtree(self._store)

    def runners(self) -> list[int]:
        """List the processes that run this worker's actions at this moment."""
        return [pid for pid, name, arguments in _processes() if name == RUNNER and str(self._socket) in arguments]

    def kill(self) -> None:
        """End both and what they run without warning, as a machine that fails would."""
        runners = self.runners()
        self._bot.kill()
        self._cas.kill()
        for pid in {*runners, *self.runners()}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _processes() -> list[tuple[int, str, str]]:
    """List the machine's processes: number, name and arguments."""
    found = []
    for folder in sorted(Path("/proc").glob("[0-9]*")):
        with suppress(OSError):  # it has ended
            name = (folder / "comm").read_text().strip()
            found.append((int(folder.name), name, (folder / "cmdline").read_bytes().decode(errors="replace")))
    return found


def wait_for_actions(workers: Sequence[Worker], count: int, seconds: float) -> Worker:
    """Wait until workers run the action that is number `count` from now on; return the worker that runs it.

    Raises AssertionError if they do not within that time.
    """
    until, seen = time.monotonic() + seconds, set[int]()
    while time.monotonic() < until:
        for worker in workers:
            seen.update(running := worker.runners())
            if running and len(seen) >= count:
                return worker
        time.sleep(0.02)
    raise AssertionError(f"{len(seen)} actions in {seconds} s: {workers[0].log.read_text(errors='replace')}")
