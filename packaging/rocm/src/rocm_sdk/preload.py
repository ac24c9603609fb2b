"""Loading the packages' shared libraries into this process before an extension module asks for them.

Extension modules that were linked without an RPATH to these packages call `preload_libraries` (through
`rocm_sdk.initialize_process`): the dynamic loader then finds the SONAMEs that they need already loaded.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from .distributions import load_distributions
from .elf import read_dynamic
from .libraries import find_by_name, library_directories
from .pe import needed_dlls
from .system import IS_WINDOWS, add_dll_directories

# What this process has loaded, by file and mode; a CDLL that is forgotten would stay loaded all the same.
_LOADED: dict[tuple[Path, int], ctypes.CDLL] = {}
# What was asked for, by short name: AMD's `rocm_sdk._ALL_CDLLS`, in which programs look.
_ALL_CDLLS: dict[str, ctypes.CDLL] = {}


def preload_libraries(*shortnames: str, rtld_global: bool = True) -> None:
    """Load the libraries into this process, and keep them loaded; the libraries of the packages they need come first.

    `rtld_global` makes their symbols available to libraries loaded later; Windows knows no such difference. There, the
    directories of the packages' DLLs are added to those in which Python looks for the DLLs of extension modules, and
    every DLL is loaded by its full path: what PATH has is never asked. On Linux, a library whose unversioned name
    (`libfoo.so`) is there as a file of its own is opened under that name as well, so that programs find it loaded
    under both. Optional libraries that are not there are passed over.

    Raises what `find_by_name` raises, ValueError for a damaged file, and OSError if the dynamic loader refuses a
    library that was asked for.
    """
    if not shortnames:
        return
    named = find_by_name(*shortnames)
    wanted = [path for _, path in named]
    mode = ctypes.RTLD_GLOBAL if rtld_global else ctypes.RTLD_LOCAL
    failures: list[OSError] = []
    directories = library_directories(load_distributions())
    add_dll_directories(directories)
    for path in load_order(wanted, directories):
        try:
            _load(path, mode)
        except OSError as error:
            failures.append(error)
            # One that was not asked for may need symbols of the library that needs it, and load with that.
            if path in wanted:
                raise OSError("; ".join(str(failure) for failure in failures)) from error
    _ALL_CDLLS.update((name, _LOADED[path, mode]) for name, path in named)


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


def _needed(path: Path) -> tuple[Sequence[str], Sequence[Path]]:
    """Return what a library needs, and where its loader looks for that first."""
    if IS_WINDOWS:
        return needed_dlls(path), [path.parent]
    dynamic = read_dynamic(path)
    return (dynamic.needed, dynamic.directories(path.parent)) if dynamic else ((), ())


def unversioned(path: Path) -> Path | None:
    """Return the file beside a library that has its name without a version, if there is one and it is another file."""
    stem, versioned, _ = path.name.partition(".so.")
    beside = path.with_name(f"{stem}.so")
    return beside if versioned and beside.is_file() and not beside.samefile(path) else None


def _load(path: Path, mode: int) -> None:
    for file in (path, unversioned(path)):
        if file is not None and (file, mode) not in _LOADED:
            _LOADED[file, mode] = ctypes.CDLL(str(file), mode=mode)
