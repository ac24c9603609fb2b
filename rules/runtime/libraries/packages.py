"""The packages of an SDK as its build lists them, which of them are installed, and loading their libraries.

`sdk_runtime` writes the list, `_packages.json`, beside this file.
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .loading import load_libraries
from .names import parse_library_name

_TABLE = Path(__file__).with_name("_packages.json")


class LibraryNotFoundError(FileNotFoundError):
    """No installed package has a library of that name."""


@dataclass(frozen=True)
class Package:
    """A package: its distribution, its tree in site-packages, and file names of libraries -> paths in the tree."""

    distribution: str
    tree: str
    libraries: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """The packages of one SDK, all of one version."""

    version: str
    packages: tuple[Package, ...]

    def library_files(self) -> list[str]:
        """Return the file names of all libraries that this system can load."""
        names = {name for package in self.packages for name in package.libraries}
        return sorted(name for name in names if _is_dll(name) == (sys.platform == "win32"))

    def file_name(self, name: str) -> str | None:
        """Return the file name of a library: of `foo`, which may be `libfoo.so.1` or `foo_1.dll`, the newest.

        None if the table has neither.
        """
        files = self.library_files()
        short = name.removeprefix("lib")
        whole = [file for file in files if file == name or (_is_dll(file) and file.lower() == name.lower())]
        found = whole or [file for file in files if family(file) == (short.lower() if _is_dll(file) else short)]
        return max(found, key=lambda file: ([int(part) for part in re.findall(r"\d+", file)], file), default=None)


@lru_cache(maxsize=None)
def read_table() -> Table:
    """Return the list of packages. Raises ImportError if this code is in a zip file, where libraries cannot be."""
    if not _TABLE.parent.is_dir():
        raise ImportError(
            f"{_TABLE.parent} is no directory: shared libraries cannot be loaded from a zip file. Install the packages "
            "with pip, or unpack the file"
        )
    table = json.loads(_TABLE.read_text("utf-8"))
    packages = (Package(one["distribution"], one["tree"], one["libraries"]) for one in table["packages"])
    return Table(table["version"], tuple(packages))


def _installed() -> list[tuple[Package, Path]]:
    """Return the packages that are installed, in the build's order, each with its tree where Python finds it first.

    The directory that this code is in comes before all others.
    """
    paths = [Path(path) for path in sys.path if path]
    sites = list(dict.fromkeys([*(path for path in Path(__file__).parents if path in paths), *paths]))
    found = []
    for package in read_table().packages:
        trees = (site / package.tree for site in sites)
        found += [(package, tree) for tree in trees if tree.is_dir() and any(tree.iterdir())][:1]
    return found


def _libraries() -> list[Path]:
    """Return the libraries of all installed packages that are there."""
    paths = (tree / path for package, tree in _installed() for path in package.libraries.values())
    return [path for path in paths if path.is_file()]


def family(name: str) -> str:
    """Return what the file names of all versions of a library share: `foo` of `libfoo.so.1` and of `foo_1.dll`."""
    library = parse_library_name(name)
    stem = re.sub(r"[-_\d.]*\.dll$", "", name.lower()) if _is_dll(name) else library.stem if library else name
    return stem.removeprefix("lib")


def find_library(name: str) -> Path:
    """Return where a library of the SDK is.

    `name` is a file name (`libfoo.so.1`, `foo_1.dll`), or the short name (`foo`). Raises LibraryNotFoundError.
    """
    table = read_table()
    file = table.file_name(name)
    if file is None:
        known = ", ".join(table.library_files())
        raise LibraryNotFoundError(f"no library {name!r}: expected a name of one of {known}")
    for path in (path for path in _libraries() if path.name == file):
        return path
    distribution = next(one.distribution for one in table.packages if file in one.libraries)
    is_installed = any(package.distribution == distribution for package, _ in _installed())
    verb = "install --force-reinstall" if is_installed else "install"
    raise LibraryNotFoundError(
        f'{file} is not installed. Its package brings it: pip {verb} "{distribution}=={table.version}"'
    )


def load_library(name: str, *, rtld_global: bool = True) -> ctypes.CDLL:
    """Load a library of the SDK and all that it needs, and keep it loaded; `name` is as for `find_library`.

    What it needs of the SDK's packages is loaded first, by full paths. With `rtld_global`, libraries that are loaded
    later see its symbols; Windows knows no such difference. There, Python also looks in the packages' directories for
    what extension modules need from then on. Raises LibraryNotFoundError, and OSError if the loader refuses a library.
    """
    path = find_library(name)
    directories = sorted({library.parent for library in _libraries()})
    return load_libraries([path], directories, rtld_global=rtld_global)[path]


def _is_dll(name: str) -> bool:
    return name[-4:].lower() == ".dll"
