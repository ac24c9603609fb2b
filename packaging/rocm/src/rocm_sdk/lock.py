"""A lock between processes, on a file. It ends with the process, however that ends; no daemon, no PID file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .system import OPEN_ANY, lock_file


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold the lock of the file `path`, waiting for it as long as another process has it.

    The file is made if it is not there and stays. It is opened for writing because NFS locks nothing else. Raises
    OSError if the file cannot be opened or its file system has no locks.
    """
    while True:
        descriptor = os.open(path, OPEN_ANY, 0o666)
        try:
            lock_file(descriptor)
            if _is_current(descriptor, path):
                yield
                return
        finally:
            os.close(descriptor)


def _is_current(descriptor: int, path: Path) -> bool:
    """Return whether `path` is still the locked file: a reinstallation puts another one there."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
