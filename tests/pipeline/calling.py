"""Calls a tool's `main` in this process, as Bazel runs it in one of its own.

    with quickly(threads=False):
        call(pack_tool.main, ["@params"])

What a process costs is saved where it decides nothing: parsers of arguments are made once, and a tool that may use one
thread starts none, unless it shall.
"""

import argparse
import contextlib
import functools
import io
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any
from unittest import mock

from lib.common import program
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


class _KnownParser(argparse.ArgumentParser):
    """A parser that has all its arguments once it parsed some."""

    is_whole = False

    def add_argument(self, *args: Any, **named: Any) -> Any:
        return None if self.is_whole else super().add_argument(*args, **named)

    def parse_args(self, *args: Any, **named: Any) -> Any:
        self.is_whole = True
        return super().parse_args(*args, **named)


class _InlinePool(Executor):
    """Works when it is asked to."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


#: Parsers by their descriptions and forms: no two tools have the same.
_parser = functools.lru_cache(maxsize=None)(_KnownParser)


def _pool(threads: int) -> Executor:
    return _InlinePool() if threads == 1 else ThreadPoolExecutor(threads)


@contextlib.contextmanager
def quickly(*, threads: bool) -> Iterator[None]:
    """Call tools that share parsers; `threads` says whether a tool that may use one thread starts it."""
    known = SimpleNamespace(ArgumentParser=_parser, RawDescriptionHelpFormatter=argparse.RawDescriptionHelpFormatter)
    with (
        mock.patch.object(program, "argparse", known),
        mock.patch.object(packer, "ThreadPoolExecutor", ThreadPoolExecutor if threads else _pool),
    ):
        yield
