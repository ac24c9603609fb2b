"""Real servers on this machine, for the time of a test: started, waited for, and ended.

with running("nginx", command, port, directory):
    …
"""

import functools
import http.server
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

#: Seconds that a server may take until it listens.
PATIENCE = 60


def free_port() -> int:
    """Return a port on which nothing listens now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def port_is_open(port: int) -> Callable[[], bool]:
    """Return a check whether something listens on a port of the loopback interface."""

    def check() -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    return check


class Server:
    """A server that stays in the foreground, in a process group of its own: what it starts ends with it."""

    def __init__(
        self,
        name: str,
        command: Sequence[object],
        log: Path,
        ready: Callable[[], bool] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._command = [str(part) for part in command]
        self._log = log
        self._ready = ready
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Server":
        """Start, and wait until it is ready.

        Raises AssertionError with all that it printed if it ends before, or is not ready within a minute.
        """
        with self._log.open("ab") as output:
            process = self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        until = time.monotonic() + PATIENCE
        while self._ready and not self._ready():
            if process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise AssertionError(f"{self.name} is not ready: {self._log.read_text(errors='replace')}")
            time.sleep(0.05)
        return self

    def _signal(self, number: int) -> None:
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """End it without warning, as a machine that fails would."""
        self._signal(signal.SIGKILL)
        if self._process:
            self._process.wait()
        self._process = None

    def stop(self) -> None:
        """Ask it to end, and kill it if it does not within ten seconds."""
        self._signal(signal.SIGTERM)
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=10)
        self.kill()


@contextmanager
def running(
    name: str, command: Sequence[object], port: int, directory: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Path]:
    """Run a server that listens on a port; yield the file with what it prints."""
    log = directory / f"{name}.log"
    server = Server(name, command, log, port_is_open(port), environment)
    try:
        server.start()
        yield log
    finally:
        server.stop()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the files of a directory on loopback; yield its URL, which ends with a slash."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
