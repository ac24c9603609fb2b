"""A lock between processes, on a file. It ends with the process, however that ends; no daemon, no PID file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .system import OPEN_ANY, lock_file, try_lock_file

#: So long a wait is not worth a word.
PATIENCE_SECONDS = 1.0
_INTERVAL_SECONDS = 0.05


@contextmanager
def exclusive_lock(path: Path, tell: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock of the file `path`, waiting for it as long as another process has it.

    `tell` is called once if that takes more than a second. The file is made if it is not there and stays. It is opened
    for writing because NFS locks nothing else. Raises OSError if the file cannot be opened or its file system has no
    locks.
    """
    while True:
        descriptor = os.open(path, OPEN_ANY, 0o666)
        try:
            if not _try_for_a_while(descriptor):
                if tell is not None:
                    tell()
                    tell = None
                lock_file(descriptor)
            if _is_current(descriptor, path):
                yield
                return
        finally:
            os.close(descriptor)


def _try_for_a_while(descriptor: int) -> bool:
    end = time.monotonic() + PATIENCE_SECONDS
    while not try_lock_file(descriptor):
        if time.monotonic() >= end:
            return False
        time.sleep(_INTERVAL_SECONDS)
    return True


def _is_current(descriptor: int, path: Path) -> bool:
    """Return whether `path` is still the locked file: a reinstallation puts another one there."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
