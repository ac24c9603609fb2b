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
from select import select

import pytest

PROGRAM = """
import importlib, os, pathlib, signal, sys, time

calls = 0


def main(argv):
    global calls
    calls += 1
    match argv:
        case ["where", name]:
            print(pathlib.Path(name).read_text(), file=sys.stderr)
        case ["calls"]:
            print(calls)
        case ["late", name]:
            late = importlib.import_module(name)
            print("imported by this process" if late.PROCESS == os.getpid() else "imported before")
        case ["slow", begun, written]:
            pathlib.Path(begun).touch()
            time.sleep(1)
            pathlib.Path(written).touch()
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
from lib.common.worker import serve
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
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": ""},
        )

    def ask(self, *arguments: str) -> None:
        """Send a request."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"arguments": arguments, "requestId": 7}).encode() + b"\n")
        self.process.stdin.flush()

    def output(self, *arguments: str) -> tuple[int, str]:
        """Send a request, and return its exit code and what it printed."""
        self.ask(*arguments)
        assert self.process.stdout
        assert select([self.process.stdout], [], [], 30)[0], "no answer"
        response = json.loads(self.process.stdout.readline())
        assert response["requestId"] == 7
        return response["exitCode"], response["output"]


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    archive = tmp_path / "tool.pyz"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("program/", "")
        file.writestr("lib/", "")
        file.writestr("program/tool.py", PROGRAM)
        for name in ("program/late.py", "lib/late.py"):
            file.writestr(name, "import os\nPROCESS = os.getpid()\n")
        file.writestr("other/never.py", "raise ImportError\n")
    one = Worker(archive, tmp_path)
    yield one
    one.process.kill()
    one.process.wait()


def test_each_request_has_a_process_of_its_own(worker: Worker) -> None:
    assert [worker.output("calls") for _ in range(3)] == [(0, "1\n")] * 3


@pytest.mark.parametrize("name", ["program.late", "lib.late"])
def test_all_modules_of_the_program_are_imported_before(worker: Worker, name: str) -> None:
    assert worker.output("late", name) == (0, "imported before\n")


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


def test_a_request_ends_with_its_worker(worker: Worker, tmp_path: Path) -> None:
    worker.ask("slow", str(tmp_path / "begun"), str(tmp_path / "written"))
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)
    worker.process.terminate()  # As Bazel does when a build is interrupted.
    assert worker.process.wait() == -signal.SIGTERM
    time.sleep(1.5)
    assert not (tmp_path / "written").exists()


def test_a_worker_ends_with_its_input(worker: Worker) -> None:
    assert worker.process.stdin
    worker.process.stdin.close()
    assert worker.process.wait() == 0
