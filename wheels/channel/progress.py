"""What people see while files are sent: a line per file, and on a terminal how far the present one is."""

import sys
import threading
import time
from typing import TextIO

from lib.common.program import size_text

#: Seconds between two looks at the present file.
INTERVAL = 0.2


class Progress:
    """Tells what is sent, and how fast, to standard error or another stream."""

    def __init__(self, count: int, stream: TextIO | None = None) -> None:
        """Begin; `count` files are to be sent."""
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._count, self._number = count, 0
        self._lock = threading.Lock()
        self._began = self._last = 0.0
        self._path, self._size, self._sent = "", 0, 0
        self.total = 0

    def begin(self, path: str, size: int) -> None:
        """Say which file comes next, and its size in bytes."""
        self._number += 1
        self._path, self._size, self._sent = path, size, 0
        self._began = time.monotonic()
        self._last = 0.0
        self.sent(0)

    def sent(self, count: int) -> None:
        """Count bytes of the present file. A client that tries again may count twice: no more than all are shown."""
        with self._lock:
            self._sent += count
            now = time.monotonic()
            if self._live and now - self._last >= INTERVAL:
                self._last = now
                share = 100 * min(self._sent, self._size) // max(self._size, 1)
                self._write(f"sending   {self._title()}: {share} % of {size_text(self._size)}, {self._rate()}", end="")

    def end(self, outcome: str) -> None:
        """Say what became of the present file: one word."""
        with self._lock:
            self.total += self._size
            seconds = time.monotonic() - self._began
            rate = f" in {seconds:.1f} s ({self._rate()})" if seconds >= INTERVAL else ""
            self._sent = self._size
            self._write(f"{outcome:<9} {self._title()}: {size_text(self._size)}{rate}", end="\n")

    def _title(self) -> str:
        width = len(str(self._count))
        return f"{self._number:>{width}}/{self._count} {self._path}"

    def _rate(self) -> str:
        return f"{size_text(int(min(self._sent, self._size) / max(time.monotonic() - self._began, 1e-3)))}/s"

    def _write(self, text: str, end: str) -> None:
        # On a terminal the line before is overwritten: back to its begin, and clear to its end (ECMA-48, EL).
        self._stream.write(f"\r\x1b[K{text}{end}" if self._live else f"{text}{end}")
        self._stream.flush()
