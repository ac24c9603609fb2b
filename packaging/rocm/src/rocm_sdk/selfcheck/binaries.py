"""Checks of shared libraries and programs: they load, and what they need is found inside the packages.

The checks of search paths are about ELF files; Windows has no search paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..devel import find_layout
from ..distributions import Distributions
from ..elf import is_elf, read_dynamic
from ..installation import InstalledPackage, Row, read_record
from ..kpack import SUFFIX, archive_places
from ..libraries import find_libraries, find_tree, library_directories, listed_libraries
from ..library_table import LIBRARIES, LIBRARY_DIRECTORIES, LIBRARY_GLOB
from ..loading import unversioned
from ..system import IS_WINDOWS
from . import FailureError, SkipError, run_python

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


def check_rpaths(package: InstalledPackage, packages: Mapping[str, InstalledPackage], known: Distributions) -> str:
    """Check that search paths stay inside the packages, and lead to each needed library that the packages have."""
    core = packages.get(known.packages["core"].distribution)
    trees = [package.tree, *([core.tree] if core else [])]
    shipped = {path.name for tree in trees for path in list_libraries(tree)}
    files = 0
    faults = []
    for path in list_elf_files(package.rows(), package.tree):
        files += 1
        faults += [f"{path.relative_to(package.site)} {fault}" for fault in _rpath_faults(path, package.site, shipped)]
    if faults:
        raise FailureError(
            f"{len(faults)} faults in {files} files, for one: {faults[0]}. Report this to those who built the package."
        )
    return f"{files} files"


def list_elf_files(rows: Iterable[Row], tree: Path) -> Iterator[Path]:
    """Return the ELF files of a tree among the rows of a RECORD beside the tree; no symbolic links."""
    for row in sorted(rows, key=lambda row: row.path):
        path = tree.parent / row.path
        if row.path.startswith(tree.name + "/") and path.is_file() and not path.is_symlink() and is_elf(path):
            yield path


def _rpath_faults(path: Path, site: Path, shipped: set[str]) -> Iterator[str]:
    dynamic = read_dynamic(path)
    if dynamic is None or not dynamic.needed:
        return
    directories = dynamic.directories(path.parent)
    for directory in directories:
        if site not in directory.parents:
            yield f"looks for libraries in {directory}, outside the packages"
    for name in dynamic.needed:
        if name in shipped and not any((directory / name).is_file() for directory in directories):
            yield f"needs {name}, which its RPATH does not lead to"


# The check of libraries whose device code lies in archives: they find those that are installed for them.


def check_device_archives(known: Distributions, packages: Mapping[str, InstalledPackage]) -> str:
    """Check that libraries find each archive that is installed for them, from where they lie.

    That is the packages' trees and the development tree: archives are looked for beside the tree's `lib`.
    """
    rows = [row.path for package in packages.values() for row in package.rows()]
    archives = sorted({Path(row).name for row in rows if row.endswith(SUFFIX)})
    files, without, faults = 0, set(), []
    for path in _all_elf_files(known, packages):
        places = archive_places(path)
        wanted = [place.directory / name for place in places for name in archives if place.names.fullmatch(name)]
        faults += [f"{path} looks for {archive}, which is not there" for archive in wanted if not archive.is_file()]
        if places:
            files += 1
        if places and not wanted:
            without.add(path.name)
    if not files:
        return "no device code was split off libraries"
    if faults:
        raise FailureError(
            f"{len(faults)} faults in {files} files, for one: {faults[0]}. Report this to those who built the packages."
        )
    lacking = f"; no archive is installed for {', '.join(sorted(without))}" if without else ""
    return f"{files} files, {len(archives)} archives{lacking}"


def _all_elf_files(known: Distributions, packages: Mapping[str, InstalledPackage]) -> Iterator[Path]:
    devel = known.packages["devel"].distribution
    for name, package in packages.items():
        if name != devel:
            yield from list_elf_files(package.rows(), package.tree)
    if devel in packages:
        layout = find_layout(known)
        if layout.devel.record.is_file():
            yield from list_elf_files(read_record(layout.devel.record), layout.root)
