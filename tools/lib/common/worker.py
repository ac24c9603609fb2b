"""Lets a program be a persistent worker of Bazel: it answers requests, each in a process of its own.

    python3 tool.pyz --persistent_worker

A build starts programs hundreds of times, and most need longer to import their modules than to do their work. A worker
has them imported already: for each request it forks, and the child goes on as the program itself would have begun. So a
request finds nothing of those before it, and what it used ends with it.

The protocol is Bazel's (https://bazel.build/remote/creating): JSON, one object a line, several requests at a time, each
in a sandbox of its own.
"""

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import sys
import traceback
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

_STDIN, _STDOUT, _STDERR = range(3)
_READ_BYTES = 1 << 16
#: prctl(2): which signal a process gets when its parent ends.
_PR_SET_PDEATHSIG = 1

Main = Callable[[list[str]], int]


@dataclass(frozen=True)
class _Child:
    """A process that does what a request asks for."""

    request: int
    pid: int
    #: What it printed.
    output: IO[bytes]


def _run(main: Main, arguments: list[str]) -> int:
    """Run a program to its exit code, as the interpreter would."""
    try:
        return main(arguments)
    except SystemExit as end:  # of argparse
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1


def _become_program(main: Main, request: dict[str, Any], output: int, parent: int) -> None:
    """Do the work of a request in a process that was forked for it, and end that."""
    code = 1
    try:
        # A worker that is killed takes its requests along: they would write where another build writes by then.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            return
        os.dup2(os.open(os.devnull, os.O_RDONLY), _STDIN)
        os.dup2(output, _STDOUT)
        os.dup2(output, _STDERR)
        if sandbox := request.get("sandboxDir"):
            os.chdir(sandbox)
        code = _run(main, request.get("arguments", []))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


class _Worker:
    """The requests that are being worked on, by the descriptor that tells of a process's end (pidfd_open(2))."""

    def __init__(self, main: Main) -> None:
        self._main = main
        self._children: dict[int, _Child] = {}
        self._cancelled: set[int] = set()
        self._poll = select.poll()
        self._poll.register(_STDIN, select.POLLIN)

    def _answer(self, **response: object) -> None:
        data = json.dumps(response).encode() + b"\n"
        while data:
            data = data[os.write(_STDOUT, data) :]

    def _take(self, line: bytes) -> None:
        """Begin with what a request asks for, or cancel it."""
        request = json.loads(line)
        number = request.get("requestId", 0)
        if request.get("cancel"):
            for child in self._children.values():
                if child.request == number:
                    self._cancelled.add(number)
                    os.kill(child.pid, signal.SIGKILL)
            return
        output = os.fdopen(os.memfd_create("output"), "w+b")
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _become_program(self._main, request, output.fileno(), parent)
        descriptor = os.pidfd_open(pid)
        self._children[descriptor] = _Child(number, pid, output)
        self._poll.register(descriptor, select.POLLIN)

    def _finish(self, descriptor: int) -> None:
        """Answer the request of a process that has ended."""
        child = self._children.pop(descriptor)
        self._poll.unregister(descriptor)
        os.close(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
        child.output.seek(0)
        output = child.output.read().decode(errors="replace")
        child.output.close()
        if child.request in self._cancelled:
            self._cancelled.remove(child.request)
            self._answer(requestId=child.request, wasCancelled=True)
        elif code < 0:
            self._answer(requestId=child.request, exitCode=128 - code, output=f"{output}ended by signal {-code}\n")
        else:
            self._answer(requestId=child.request, exitCode=code, output=output)

    def serve(self) -> None:
        """Answer until Bazel closes the standard input."""
        rest = b""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor != _STDIN:
                    self._finish(descriptor)
                    continue
                data = os.read(_STDIN, _READ_BYTES)
                if not data:
                    return
                *lines, rest = (rest + data).split(b"\n")
                for line in filter(None, lines):
                    self._take(line)


def _own_modules(archive: str, package: str) -> list[str]:
    """Return the modules of a package that an archive holds."""
    with zipfile.ZipFile(archive) as opened:
        names = [name.removesuffix(".py") for name in opened.namelist() if name.endswith(".py")]
    return [name.replace("/", ".") for name in names if name.startswith(f"{package}/")]


def serve(main: Main, archive: str) -> int:
    """Answer requests with the program `main` of an archive, all of whose own modules are imported before."""
    for module in _own_modules(archive, main.__module__.partition(".")[0]):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # So that children leave the memory of what is imported as it is, and share it.
    _Worker(main).serve()
    return 0
