"""Loading shared libraries of several packages into this process, each after all that it needs.

Extension modules that have no search path to the packages find what they need already loaded. On Windows, a library is
loaded by its full path, so that nobody asks PATH.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .elf import read_dynamic
from .pe import needed_dlls

# What this process has loaded, by file and mode; a CDLL that is forgotten would stay loaded all the same.
_LOADED: dict[tuple[Path, int], ctypes.CDLL] = {}
# What this process has added: closing one, or forgetting it, would take the directory away again.
_DLL_DIRECTORIES: dict[Path, object] = {}


def load_libraries(
    wanted: Sequence[Path], directories: Sequence[Path], *, rtld_global: bool = True
) -> Mapping[Path, ctypes.CDLL]:
    """Load libraries, and keep them loaded; what they need of `directories` comes first. Return the handles by path.

    `rtld_global` makes their symbols available to libraries that are loaded later; Windows knows no such difference.
    There, the directories are also added to those in which Python looks for the DLLs of extension modules. On Linux, a
    library whose unversioned name (`libfoo.so`) is there as a file of its own is opened under that name as well, so
    that programs find it loaded under both.

    Raises ValueError for a damaged file, and OSError if the dynamic loader refuses one of `wanted`.
    """
    mode = ctypes.RTLD_GLOBAL if rtld_global else ctypes.RTLD_LOCAL
    failures: list[OSError] = []
    add_dll_directories(directories)
    for path in load_order(wanted, directories):
        try:
            _load(path, mode)
        except OSError as error:
            failures.append(error)
            # A library that was not asked for may need symbols of the library that needs it, and load with it.
            if path in wanted:
                said = list(dict.fromkeys(str(failure) for failure in failures))
                raise OSError("; ".join([*said[:-1][:3], said[-1]])) from error
    return {path: _LOADED[path, mode] for path in wanted}


def load_order(paths: Sequence[Path], directories: Sequence[Path]) -> list[Path]:
    """Return `paths` and the libraries in reach that they need, each after all that it needs itself.

    A needed library is looked for as the dynamic loader does: through the file's own search entries, here followed by
    `directories`; on Windows, in the file's directory first. What is not there is the system's, and left out, as are
    the libraries that are found elsewhere. A circle is entered where it is met first. Raises what `read_dynamic` and
    `needed_dlls` raise.
    """
    order: list[Path] = []
    seen: set[Path] = set()

    def visit(path: Path) -> None:
        if path in seen:
            return
        seen.add(path)
        needed, search = _needed(path)
        for name in needed:
            reached = [place for place in search if place in directories]
            found = next((place / name for place in [*reached, *directories] if (place / name).is_file()), None)
            if found is not None:
                visit(found)
        order.append(path)

    for path in paths:
        visit(path)
    return order


def add_dll_directories(directories: Iterable[Path]) -> None:
    """Let Windows look for what extension modules need in these directories, too; on Linux, RPATH leads there."""
    if sys.platform == "win32":
        for directory in directories:
            if directory not in _DLL_DIRECTORIES:
                _DLL_DIRECTORIES[directory] = os.add_dll_directory(str(directory))


def unversioned(path: Path) -> Path | None:
    """Return the file beside a library that has its name without a version, if there is one and it is another file."""
    stem, versioned, _ = path.name.partition(".so.")
    beside = path.with_name(f"{stem}.so")
    return beside if versioned and beside.is_file() and not beside.samefile(path) else None


def _needed(path: Path) -> tuple[Sequence[str], Sequence[Path]]:
    """Return what a library needs, and where its loader looks for that first."""
    if sys.platform == "win32":
        return needed_dlls(path), [path.parent]
    dynamic = read_dynamic(path)
    return (dynamic.needed, dynamic.directories(path.parent)) if dynamic else ((), ())


def _load(path: Path, mode: int) -> None:
    for file in (path, unversioned(path)):
        if file is not None and (file, mode) not in _LOADED:
            _LOADED[file, mode] = ctypes.CDLL(str(file), mode=mode)
