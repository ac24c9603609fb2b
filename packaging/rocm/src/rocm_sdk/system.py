"""What Linux and Windows do differently, as far as more than one module asks for it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

IS_WINDOWS = sys.platform == "win32"

#: What the names of programs end in.
PROGRAM_SUFFIX = ".exe" if IS_WINDOWS else ""

#: For `os.open`: bytes as they are (Windows has texts, too), and not for programs that are started meanwhile.
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
OPEN_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN
OPEN_ANY = os.O_RDWR | os.O_CREAT | _PLAIN


def count_processors() -> int:
    """Return how many processors this process may use."""
    if sys.platform == "win32":
        return os.cpu_count() or 1
    return len(os.sched_getaffinity(0))


def free_space(directory: Path) -> tuple[int, int | None]:
    """Return what the file system of a directory has for a user without privileges: bytes, and inodes.

    None if inodes are made as they are needed, as on Windows.
    """
    if sys.platform == "win32":
        return shutil.disk_usage(directory).free, None
    free = os.statvfs(directory)
    return free.f_bavail * free.f_frsize, free.f_favail if free.f_files else None


def try_lock_file(descriptor: int) -> bool:
    """Lock an open file if no other process has the lock, and return whether that was done; raises as `lock_file`."""
    if sys.platform == "win32":
        import msvcrt
        from errno import EACCES

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno != EACCES:
                raise
            return False
    else:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def lock_file(descriptor: int) -> None:
    """Lock an open file, waiting as long as another process has the lock; closing the file ends it.

    Raises OSError if its file system has no locks.
    """
    if sys.platform == "win32":
        import msvcrt
        from errno import EDEADLOCK

        while True:
            try:
                # Of the first byte, which need not be there. It gives up after ten seconds.
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            except OSError as error:
                if error.errno != EDEADLOCK:
                    raise
            else:
                return
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


def noexec(path: str | Path) -> str:
    """Return what to do if nothing on the file system of a path can be started or loaded; "" if that is not so."""
    if IS_WINDOWS or not Path(path).exists() or not os.statvfs(path).f_flag & os.ST_NOEXEC:
        return ""
    return "Its file system is mounted with noexec: mount it without, or install the packages elsewhere."
