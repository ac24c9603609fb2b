"""The files of an install prefix as its CMake packages see them: below one made-up directory.

    files = PrefixFiles(Path("external/rocm/prefix"))
    files.exists(f"{ROOT}/lib/librocblas.so.5")

CMake packages compute paths from where they are. Below `ROOT` these do not depend on the machine, and one that leaves
the prefix shows. Links count as the place that they are in: in a merged prefix each file is one, to somewhere else.
"""

import fnmatch
import os
import posixpath
from pathlib import Path
from typing import Final

from tools.fetch.prefix.cmake_syntax import CMakeError

#: Stands for the prefix in paths. It is deep, so that a path that goes up too far does not come back by chance.
ROOT: Final = "/__install__/__prefix__"
#: Bytes. LLVM's exports, the biggest, have some hundred thousand.
MAX_SIZE: Final = 1 << 24


class PrefixFiles:
    """The files below a prefix, by their paths below ROOT."""

    def __init__(self, prefix: Path) -> None:
        self._prefix = prefix

    def real(self, path: str) -> Path | None:
        """Return where a file is, None if its path leaves the prefix."""
        below = self.below(path)
        return None if below is None else self._prefix / below

    @staticmethod
    def below(path: str) -> str | None:
        """Return a path relative to the prefix, empty for the prefix itself, None if it is not in it."""
        normal = posixpath.normpath(path)
        if normal == ROOT:
            return ""
        return normal.removeprefix(f"{ROOT}/") if normal.startswith(f"{ROOT}/") else None

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory. There is nothing outside of the prefix."""
        real = self.real(path)
        return real is not None and os.path.exists(real)  # noqa: PTH110 - false for names that no file can have

    def is_directory(self, path: str) -> bool:
        """Whether there is a directory."""
        real = self.real(path)
        return real is not None and os.path.isdir(real)  # noqa: PTH112

    def read(self, path: str) -> str:
        """Read a text. Raises CMakeError if it cannot be read."""
        real, below = self.real(path), self.below(path)
        if real is None or not os.path.isfile(real):  # noqa: PTH113
            raise CMakeError("there is no such file in the prefix", str(below or path))
        try:
            if real.stat().st_size > MAX_SIZE:
                raise CMakeError(f"expected at most {MAX_SIZE} bytes", str(below))
            return real.read_text(encoding="utf-8", errors="replace").replace("\0", "\ufffd")
        except OSError as error:
            raise CMakeError(f"{error.strerror}; expected a file that can be read", str(below)) from None

    def glob(self, pattern: str) -> list[str]:
        """Return the files of a directory whose names match a pattern, sorted."""
        directory, name = posixpath.split(posixpath.normpath(pattern))
        real = self.real(directory)
        try:
            found = sorted(os.listdir(real)) if real else []  # noqa: PTH208
        except (OSError, ValueError):
            return []
        return [f"{directory}/{one}" for one in found if fnmatch.fnmatchcase(one, name)]


def component(path: str, mode: str, base: str) -> str | None:
    """Return what `get_filename_component` returns; None if it cannot be known. `base` is the current directory.

    REALPATH follows no links: see the top of this file.
    """
    name = posixpath.basename(path)
    if mode in ("PATH", "DIRECTORY"):
        directory = posixpath.dirname(path)
        return directory.rstrip("/") or directory
    if mode in ("ABSOLUTE", "REALPATH"):
        return posixpath.normpath(posixpath.join(base, path))
    stem, dot, extension = name.partition(".")
    shorter, last_dot, last = name.rpartition(".")
    return {
        "NAME": name,
        "NAME_WE": stem,
        "EXT": dot + extension,
        "NAME_WLE": shorter if last_dot else name,
        "LAST_EXT": last_dot + last if last_dot else "",
    }.get(mode)
