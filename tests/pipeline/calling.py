"""Calls a tool's `main` in this process, as Bazel runs it in one of its own.

    with quickly(threads=False):
        call(pack_tool.main, ["@params"])

What a process costs is saved where it decides nothing: a tool that may use one thread starts none, unless it shall.
"""

import contextlib
import io
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any
from unittest import mock

from lib.pack import packer


class BuildError(Exception):
    """A tool refused its input: the text is what it printed."""


def call(main: Callable[[list[str]], int], arguments: list[str]) -> None:
    """Run a tool; raises BuildError with what it printed if it fails."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        status = main(arguments)
    if status:
        lines = [line for line in errors.getvalue().strip().split("\n") if not line.startswith("NOTE: ")]
        raise BuildError("\n".join(lines))


class _InlinePool(Executor):
    """Works when it is asked to."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _pool(threads: int) -> Executor:
    return _InlinePool() if threads == 1 else ThreadPoolExecutor(threads)


@contextlib.contextmanager
def quickly(*, threads: bool) -> Iterator[None]:
    """Call tools; `threads` says whether a tool that may use one thread starts it."""
    with mock.patch.object(packer, "ThreadPoolExecutor", ThreadPoolExecutor if threads else _pool):
        yield
