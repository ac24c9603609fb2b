"""Checks of shared libraries: they load, one by one and together."""

from __future__ import annotations

from pathlib import Path

from ..distributions import Distributions
from ..elf import is_elf, read_dynamic
from ..libraries import find_libraries, find_tree, library_directories, listed_libraries
from ..library_table import LIBRARIES, LIBRARY_DIRECTORIES, LIBRARY_GLOB
from ..loading import unversioned
from ..system import IS_WINDOWS
from . import SkipError, run_python

# Loads the libraries, then asks for each name whether the process has it already, as programs do that open it later.
PRELOAD_CODE = """
import ctypes, os, sys
import rocm_sdk
count = int(sys.argv[1])
rocm_sdk.preload_libraries(*sys.argv[2 : 2 + count])
for name in sys.argv[2 + count :]:
    try:
        if sys.platform != "win32":
            ctypes.CDLL(name, os.RTLD_NOLOAD | os.RTLD_NOW)
        elif not ctypes.windll.kernel32.GetModuleHandleW(name):
            raise OSError
    except OSError:
        sys.exit(f"after preloading, {name} is not loaded under this name. Reinstall the packages.")
"""
# Loads one library. On Windows, the packages' directories are to be named.
LOAD_CODE = """
import ctypes, os, sys
kept = [os.add_dll_directory(directory) for directory in sys.argv[2:]]
ctypes.CDLL(sys.argv[1])
"""


def list_libraries(tree: Path) -> list[Path]:
    """Return the shared libraries of a package's tree, those in the directories where libraries are looked for."""
    found = [path for below in LIBRARY_DIRECTORIES for path in sorted((tree / below).glob(LIBRARY_GLOB))]
    return [path for path in found if path.is_file() and (IS_WINDOWS or is_elf(path))]


def check_library(path: Path, known: Distributions) -> str:
    """Check that the library loads, with nothing loaded before it and without LD_LIBRARY_PATH."""
    directories = library_directories(known) if IS_WINDOWS else []
    run_python(LOAD_CODE, str(path), *map(str, directories), isolated=True)
    return ""


def check_preload(known: Distributions) -> str:
    """Check that all public libraries can be preloaded into one process, and then answer to all their names."""
    found = {name: paths[0] for name in listed_libraries() for paths in [_find(name, known)] if paths}
    if not found:
        raise SkipError("no public library is installed")
    files = [file for path in found.values() for file in (path, unversioned(path)) if file]
    sonames = [dynamic.soname for dynamic in map(read_dynamic, files) if dynamic and dynamic.soname]
    names = [path.name for path in files] if IS_WINDOWS else sonames
    run_python(PRELOAD_CODE, str(len(found)), *found, *names)
    return ", ".join(found)


def _find(shortname: str, known: Distributions) -> list[Path]:
    if find_tree(LIBRARIES[shortname].package, known) is None:
        return []
    try:
        return find_libraries(shortname)
    except FileNotFoundError:
        return []
