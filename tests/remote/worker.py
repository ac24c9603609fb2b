"""A buildbox worker: takes actions from a remote execution service and runs each in bubblewrap.

    worker = Worker(root, directory, "worker1", "http://127.0.0.1:18351").start()
    …
    worker.stop()

It has a CAS of its own that fetches from the service's. An action sees its inputs, and the root's /usr and /etc.
A worker whose session the server has forgotten ends; so a loop starts it again, as a service manager would.
"""

from collections.abc import Mapping
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE
from tests.e2e.testing.servers import Server

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
