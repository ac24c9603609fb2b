"""Differences between Linux and Windows that several modules need to know."""

from __future__ import annotations

import os
import sys
from pathlib import Path

IS_WINDOWS = sys.platform == "win32"

#: What the names of programs end in.
PROGRAM_SUFFIX = ".exe" if IS_WINDOWS else ""


def count_processors() -> int:
    """Return how many processors this process may use."""
    if sys.platform == "win32":
        return os.cpu_count() or 1
    return len(os.sched_getaffinity(0))


def noexec(path: str | Path) -> str:
    """Return what to do if nothing on the file system of a path can be started or loaded; "" if that is not so."""
    if IS_WINDOWS or not Path(path).exists() or not os.statvfs(path).f_flag & os.ST_NOEXEC:
        return ""
    return "Its file system is mounted with noexec: mount it without, or install the packages elsewhere."
