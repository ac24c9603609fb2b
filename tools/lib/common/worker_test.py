"""Tests of persistent workers: what Bazel asks, as it asks it, of a worker in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import os, pathlib, signal, sys, time

calls = 0


def main(argv):
    global calls
    calls += 1
    match argv:
        case ["where", name]:
            print(pathlib.Path(name).read_text(), file=sys.stderr)
        case ["calls"]:
            print(calls)
        case ["late"]:
            from program import late
            print("imported by this process" if late.PROCESS == os.getpid() else "imported before")
        case ["wait", path]:
            while not os.path.exists(path):
                time.sleep(0.01)
        case ["slow", path]:
            time.sleep(1)
            pathlib.Path(path).touch()
        case ["signal", number]:
            print("so far", flush=True)
            os.kill(os.getpid(), int(number))
        case ["read"]:
            print(repr(sys.stdin.read()))
        case ["exit", code]:
            sys.exit(int(code))
        case ["raise"]:
            raise ValueError("a bug")
        case ["length", text]:
            print(len(text))
    return 0
"""
SERVE = """
import sys
archive = sys.argv[1]
sys.path.insert(0, archive)
from program.tool import main
from tools.lib.common.worker import serve
sys.exit(serve(main, archive))
"""


class Worker:
    """A worker, and what Bazel does with one."""

    def __init__(self, archive: Path, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, archive],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=directory,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def ask(self, number: int, *arguments: str, **fields: object) -> None:
        """Send a request."""
        assert self.process.stdin
        request = {"arguments": arguments, "requestId": number, **fields}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for the next response."""
        assert self.process.stdout
        response: dict[str, Any] = json.loads(self.process.stdout.readline())
        return response

    def output(self, *arguments: str, **fields: object) -> tuple[int, str]:
        """Send a request, and return its exit code and what it printed."""
        self.ask(7, *arguments, **fields)
        response = self.answer()
        assert response["requestId"] == 7
        return response["exitCode"], response["output"]


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    archive = tmp_path / "tool.pyz"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("program/", "")
        file.writestr("program/tool.py", PROGRAM)
        file.writestr("program/late.py", "import os\nPROCESS = os.getpid()\n")
        file.writestr("other/never.py", "raise ImportError\n")
    one = Worker(archive, tmp_path)
    yield one
    one.process.kill()
    one.process.wait()


def test_each_request_has_a_process_of_its_own(worker: Worker) -> None:
    assert [worker.output("calls") for _ in range(3)] == [(0, "1\n")] * 3


def test_all_modules_of_the_program_are_imported_before(worker: Worker) -> None:
    assert worker.output("late") == (0, "imported before\n")


def test_requests_are_answered_as_they_end(worker: Worker, tmp_path: Path) -> None:
    worker.ask(1, "wait", str(tmp_path / "done"))
    worker.ask(2, "calls")
    assert worker.answer() == {"requestId": 2, "exitCode": 0, "output": "1\n"}
    (tmp_path / "done").touch()
    assert worker.answer() == {"requestId": 1, "exitCode": 0, "output": ""}


def test_a_request_has_its_sandbox(worker: Worker, tmp_path: Path) -> None:
    for name in ("1", "2"):
        sandbox = tmp_path / "sandbox" / name
        sandbox.mkdir(parents=True)
        (sandbox / "input").write_text(f"of {name}")
        assert worker.output("where", "input", sandboxDir=f"sandbox/{name}") == (0, f"of {name}\n")


@pytest.mark.parametrize(
    ("arguments", "code", "output"),
    [
        (("exit", "3"), 3, ""),
        (("raise",), 1, "ValueError: a bug\n"),
        (("signal", "11"), 128 + 11, "so far\nended by signal 11\n"),
        # As the kernel does when memory runs out; it is no answer to a cancellation.
        (("signal", "9"), 128 + 9, "so far\nended by signal 9\n"),
        (("where", "missing"), 1, "No such file or directory: 'missing'\n"),
        (("read",), 0, "''\n"),
        (("length", "ï" * 300_000), 0, "300000\n"),
    ],
)
def test_how_programs_end(worker: Worker, arguments: tuple[str, ...], code: int, output: str) -> None:
    ended, printed = worker.output(*arguments)
    assert (ended, printed.endswith(output)) == (code, True), printed
    assert worker.output("calls") == (0, "1\n")


def test_a_cancelled_request_ends(worker: Worker, tmp_path: Path) -> None:
    worker.ask(1, "wait", str(tmp_path / "never"))
    worker.ask(1, cancel=True)
    response = worker.answer()
    assert response == {"requestId": 1, "wasCancelled": True}
    # One that was answered already is none.
    worker.ask(1, cancel=True)
    assert worker.output("calls") == (0, "1\n")


@pytest.mark.parametrize("is_killed", [True, False])
def test_requests_end_with_the_worker(worker: Worker, tmp_path: Path, is_killed: bool) -> None:
    worker.ask(1, "slow", str(tmp_path / "written"))
    worker.ask(2, "calls")
    worker.answer()
    assert worker.process.stdin
    if is_killed:
        worker.process.kill()
    else:
        worker.process.stdin.close()
    assert worker.process.wait() == (-signal.SIGKILL if is_killed else 0)
    time.sleep(1.5)
    assert not (tmp_path / "written").exists()
