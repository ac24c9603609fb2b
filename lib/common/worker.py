"""Lets a program be a persistent worker of Bazel: it answers requests, each in a process of its own.

    python3 tool.pyz --persistent_worker

A build starts programs hundreds of times, and most need longer to import their modules than to do their work. A worker
has them imported already: for each request it forks, and the child goes on as the program itself would have begun. So a
request finds nothing of those before it, and what it used ends with it.

The protocol is Bazel's (https://bazel.build/remote/creating): JSON, one object a line, one request at a time. Bazel
starts as many workers as it wants to ask at the same time, each in a sandbox, which it refills for each request.
"""

import gc
import importlib
import json
import os
import sys
import traceback
import zipfile
from collections.abc import Callable
from typing import Any

from lib.common.program import end_with_parent

_STDIN, _STDOUT, _STDERR = range(3)

Main = Callable[[list[str]], int]


def _run(main: Main, arguments: list[str]) -> int:
    """Run a program to its exit code, as the interpreter would."""
    try:
        return main(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1


def _become_program(main: Main, arguments: list[str], output: int, parent: int) -> None:
    """Do the work of a request in a process that was forked for it, and end that."""
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), _STDIN)
        os.dup2(output, _STDOUT)
        os.dup2(output, _STDERR)
        # A worker that is killed takes its request along: that would write where another build writes by then.
        end_with_parent(parent)
        code = _run(main, arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _answer(main: Main, request: dict[str, Any]) -> dict[str, Any]:
    """Do what a request asks for, and return the response to it."""
    with os.fdopen(os.memfd_create("output"), "w+b") as output:
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            _become_program(main, request.get("arguments", []), output.fileno(), parent)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        printed = output.read().decode(errors="replace")
    if code < 0:
        code, printed = 128 - code, f"{printed}ended by signal {-code}\n"
    return {"requestId": request.get("requestId", 0), "exitCode": code, "output": printed}


def _own_modules(archive: str, program: str) -> list[str]:
    """Return the modules that an archive holds of the packages of a program and of this library."""
    own = {module.partition(".")[0] for module in (program, __name__)}
    with zipfile.ZipFile(archive) as opened:
        names = [name.removesuffix(".py") for name in opened.namelist() if name.endswith(".py")]
    return [name.replace("/", ".") for name in names if name.partition("/")[0] in own]


def serve(main: Main, archive: str) -> int:
    """Answer requests with the program `main` of an archive, all of whose own modules are imported before."""
    for module in _own_modules(archive, main.__module__):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # So that children leave the memory of what is imported as it is, and share it.
    for line in sys.stdin.buffer:
        print(json.dumps(_answer(main, json.loads(line))), flush=True)
    return 0
