"""A progress bar for work that takes long, on a terminal and nowhere else.

    with progress_bar("Unpacking", total, quiet=quiet) as report:
        report(done)

It is drawn on stderr, so that what a command prints can be captured, and wiped off at the end. Nothing is written if
stderr is no terminal, or if the work is done before a bar would be of use.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Callable, TextIO

Report = Callable[[int], None]

DELAY_SECONDS = 0.3
INTERVAL_SECONDS = 0.1
# ECMA-48: back to the start of the line, erase to its end.
_WIPE = "\r\x1b[K"
_BAR_COLUMNS = 30


@contextmanager
def progress_bar(label: str, total: int, *, quiet: bool = False, stream: TextIO | None = None) -> Iterator[Report]:
    """Show how much of `total` is done; yields a function that is called with how much that is now, in any unit."""
    terminal = sys.stderr if stream is None else stream
    if quiet or total <= 0 or not is_terminal(terminal):
        yield _say_nothing
        return
    bar = _Bar(label, total, terminal)
    try:
        yield bar.report
    finally:
        bar.wipe()


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a bar can be drawn on `stream`: sys.stderr is None in a process without one."""
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # It is closed.
        return False


def format_bar(label: str, share: float, columns: int) -> str:
    """Return the line for a `share` from 0 to 1 that is done; without its bar, or cut, if `columns` are too few."""
    filled = int(share * _BAR_COLUMNS)
    bar = "#" * filled + "." * (_BAR_COLUMNS - filled)
    percent = f"{int(share * 100):3} %"
    line = f"{label} [{bar}] {percent}"
    # The last column stays free: some terminals begin a new line once it is written.
    return (line if len(line) < columns else f"{label} {percent}")[: max(columns - 1, 0)]


def _say_nothing(_: int) -> None:
    pass


class _Bar:
    """A line on a terminal that is drawn again from time to time."""

    def __init__(self, label: str, total: int, terminal: TextIO) -> None:
        self._label = label
        self._total = total
        self._terminal = terminal
        self._next = time.monotonic() + DELAY_SECONDS
        self._drawn = False

    def report(self, done: int) -> None:
        """Draw the line, if it is time to."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + INTERVAL_SECONDS
            share = min(max(done / self._total, 0.0), 1.0)
            self._write(_WIPE + format_bar(self._label, share, _columns(self._terminal)))

    def wipe(self) -> None:
        """Leave the terminal as it was."""
        if self._drawn:
            self._write(_WIPE)

    def _write(self, text: str) -> None:
        # A terminal that went away must not end the work.
        with suppress(OSError, ValueError):
            self._terminal.write(text)
            self._terminal.flush()
            self._drawn = True


def _columns(terminal: TextIO) -> int:
    try:
        return os.get_terminal_size(terminal.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
