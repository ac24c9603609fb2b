"""Which library a file of device code belongs to: it lies in a directory that is named like the library.

    owner_of("lib/rocblas/5/library/Kernels_gfx90a.co", libraries)  # "lib/librocblas.so.5"
    owner_of("share/miopen/db/gfx90a68.kdb", libraries)             # "lib/libMIOpen.so.1"

Pure functions.
"""

import posixpath
import re
from collections.abc import Collection

#: Directories below which each library keeps its own files, in a directory of the library's name.
_LIBRARY_DIRECTORIES = ("lib", "lib64")
_DATA_DIRECTORIES = ("share", "libexec")
_LIBRARY_NAME = re.compile(r"lib(?P<name>.+?)\.so(\.[0-9]+)*")


def library_name(path: str) -> str | None:
    """Return what a library is called: `miopen` for `lib/libMIOpen.so.1`. None if it is not named like a library."""
    match = _LIBRARY_NAME.fullmatch(posixpath.basename(path))
    return match["name"].casefold() if match else None


def data_directory(path: str) -> tuple[str, str] | None:
    """Return the directory of one library's files that a path lies in, and that library's name; None if in none.

    For `lib/rocblas/5/library/x.co` these are `lib/rocblas/` and `rocblas`.
    """
    parts = path.split("/")
    for at, part in enumerate(parts[:-2]):
        if part in _LIBRARY_DIRECTORIES + _DATA_DIRECTORIES:
            return "/".join(parts[: at + 2]) + "/", parts[at + 1].casefold()
    return None


def owner_of(path: str, libraries: Collection[str]) -> str:
    """Return the key, in the coverage table, of a file of device code that is not one of `libraries`.

    `libraries` are paths of all libraries, whether they have code in themselves or not. The owner is the one that the
    file's directory is named like: beside that directory if it lies in `lib`, anywhere if in `share`. Of several, that
    nearest to the top, then the first in sorted order. Without such a library the key is the directory, with `/`.
    """
    found = data_directory(path)
    if found is None:
        directory = posixpath.dirname(path)
        return directory + "/" if directory else path
    directory, name = found
    parent = posixpath.dirname(directory.removesuffix("/"))
    named = [library for library in libraries if library_name(library) == name]
    if posixpath.basename(parent) in _LIBRARY_DIRECTORIES:
        named = [library for library in named if posixpath.dirname(library) == parent]
    return min(named, key=lambda library: (library.count("/"), library), default=directory)
