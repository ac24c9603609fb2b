"""Finding and loading a library of the SDK, with an answer that says how it was found.

The order is as in cuda-pathfinder: loaded already, the SDK's packages, conda, the system, an environment variable.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .loading import load_libraries
from .process import find_loaded, loaded_files, path_of
from .table import Installed, Table, family, installed_packages, read_table

_CONDA_VARIABLE = "CONDA_PREFIX"


@dataclass(frozen=True)
class Found:
    """Where a library is, and how that was found.

    `found_via` is `loaded`, `package`, `conda`, `system` or `variable`. `distribution` is the SDK's package that has
    the file, "" if none has.
    """

    path: Path
    found_via: str
    distribution: str


class LibraryNotFoundError(FileNotFoundError):
    """No library of that name is anywhere where it is looked for."""


def find_library(name: str) -> Found:
    """Return where a library is: the first of `loaded`, `package`, `conda`, `system` and `variable` that has it.

    `name` is a file name (`libfoo.so.1`, `foo_1.dll`), or the short name of a library of the SDK (`foo`). To find a
    library of the system, this loads it, because only the loader knows where it looks. Raises LibraryNotFoundError.
    """
    table, packages = read_table(), installed_packages()
    file = table.file_name(name)
    if file is None:
        known = ", ".join(table.library_files())
        raise LibraryNotFoundError(f"no library {name!r}: expected a file name, or one of {known}")
    loaded = find_loaded(file)
    if loaded is not None:
        return Found(loaded, "loaded", owner(loaded, packages))
    for path in (path for one in packages for path in one.libraries() if path.name == file):
        return Found(path, "package", owner(path, packages))
    for found_via, place in _elsewhere(file, table):
        return Found(place, found_via, "")
    raise LibraryNotFoundError(_missing(file, table, packages))


def load_library(name: str, *, rtld_global: bool = True) -> ctypes.CDLL:
    """Load a library and all that it needs, and keep it loaded; it is looked for as by `find_library`.

    What it needs of the SDK's packages is loaded first, by full paths. With `rtld_global`, libraries that are loaded
    later see its symbols; Windows knows no such difference. There, Python also looks in the packages' directories for
    what extension modules need from then on. Raises LibraryNotFoundError, and OSError if the loader refuses a library.
    """
    found = find_library(name)
    ours = sorted({path.parent for one in installed_packages() for path in one.libraries()})
    directories = ours if found.distribution else [found.path.parent]
    return load_libraries([found.path], directories, rtld_global=rtld_global)[found.path]


def problems() -> list[str]:
    """Say in sentences what does not belong together; empty if nothing is wrong.

    All installed packages have the SDK's version, and every loaded library with the name of one of the SDK's is one of
    the packages.
    """
    table, packages = read_table(), installed_packages()
    said = [
        f"{one.package.distribution} has version {one.version}; expected {table.version}. "
        f'Install it: pip install "{one.package.distribution}=={table.version}"'
        for one in packages
        if one.version not in ("", table.version)
    ]
    families = {family(file) for file in table.library_files()}
    foreign = [path for path in loaded_files() if family(path.name) in families and not owner(path, packages)]
    return said + [
        f"{path} is loaded; expected this library from the SDK's packages. Find out what loads it: a variable such as "
        "LD_LIBRARY_PATH or PATH, or another package that has a copy"
        for path in foreign
    ]


def owner(path: Path, packages: list[Installed]) -> str:
    """Return the distribution of the package that has this very file, by whatever path; "" if none has it.

    Its tree also has files that stand in for libraries: `libfoo.so`, which leads to `libfoo.so.1`.
    """
    for one in packages:
        if one.tree.resolve() in path.parents:
            return one.package.distribution
        for library in one.libraries():
            if library.name.lower() == path.name.lower() and path.exists() and library.samefile(path):
                return one.package.distribution
    return ""


def _elsewhere(file: str, table: Table) -> Iterator[tuple[str, Path]]:
    """Yield where else a library is: in a conda environment, in the system, in the directory that a variable names."""
    yield from _below("conda", _CONDA_VARIABLE, file)
    with suppress(OSError):
        yield "system", path_of(ctypes.CDLL(file))
    yield from _below("variable", table.variable, file)


def _below(found_via: str, variable: str, file: str) -> Iterator[tuple[str, Path]]:
    """Yield where a library is below the directory that a variable names."""
    root = os.environ.get(variable, "") if variable else ""
    directories = ("Library/bin", "bin") if sys.platform == "win32" else ("lib", "lib64")
    paths = (Path(root, directory, file) for directory in directories if root)
    return ((found_via, path) for path in paths if path.is_file())


def _missing(file: str, table: Table, packages: list[Installed]) -> str:
    """Say where a library was looked for, and what brings it."""
    roots = " or ".join(filter(None, (_CONDA_VARIABLE, table.variable)))
    looked = f"no library {file}: neither loaded, nor in the packages, nor in the system, nor below {roots}."
    having = [one.distribution for one in table.packages if file in one.libraries]
    if not having:
        return f"{looked} No package of this SDK has it: install what does, such as a driver."
    is_installed = any(one.package.distribution == having[0] for one in packages)
    verb = "install --force-reinstall" if is_installed else "install"
    return f'{looked} Its package brings it: pip {verb} "{having[0]}=={table.version}"'
