"""Chooses the checks for what is installed, runs several at a time, and reports the results.

The checks of shared libraries are here: they load, one by one and together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from ..distributions import Distributions, load_distributions
from ..elf import is_elf, read_dynamic
from ..errors import RocmSdkError
from ..installation import installed_packages, own_package
from ..libraries import find_libraries, find_tree, library_directories, listed_libraries
from ..library_table import LIBRARIES, LIBRARY_DIRECTORIES, LIBRARY_GLOB
from ..loading import unversioned
from ..system import IS_WINDOWS, count_processors
from . import Check, FailureError, SkipError, run_python
from .packages import check_devel, check_ownership, check_packages, check_record, check_target
from .scripts import check_import, check_script, list_python_packages, list_scripts

OUTCOMES = ("passed", "failed", "skipped")
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


@dataclass(frozen=True)
class Result:
    """The outcome of one check: `passed`, `failed` or `skipped`, and why."""

    name: str
    outcome: str
    detail: str = ""

    def describe(self) -> str:
        """Return it as a line."""
        return f"{self.outcome:7} {self.name}" + (f": {self.detail}" if self.detail else "")


def list_checks(quick: bool = False) -> Iterator[Check]:
    """Name every check that applies, in a fixed order; `quick` ones read no file as a whole."""
    known = load_distributions()
    packages = dict(sorted(installed_packages(known).items()))
    own = own_package(known)
    everything = {**packages, **({own.names.distribution: own} if own else {})}
    yield Check("devel", partial(check_devel, known, packages), first=True)
    yield Check("packages", partial(check_packages, known, packages))
    yield Check("target", partial(check_target, known, packages))
    yield Check("ownership", partial(check_ownership, known, everything))
    for name, package in everything.items():
        yield Check(f"record:{name}", partial(check_record, package, quick))
    # The device packages share a tree with the libraries; the development tree has links to the same files.
    trees = {package.tree: package.site for package in packages.values() if package.names != known.packages["devel"]}
    for tree, site in sorted(trees.items()):
        for path in list_libraries(tree):
            yield Check(f"library:{path.relative_to(site).as_posix()}", partial(check_library, path, known))
    yield Check("preload", partial(check_preload, known))
    for package in everything.values():
        for script, tool in list_scripts(package):
            yield Check(f"script:{script}", partial(check_script, package, script, tool))
    for package in packages.values():
        for name, directory in list_python_packages(package):
            yield Check(f"import:{name}", partial(check_import, package, name, directory))


def run_checks(pattern: str = "", quick: bool = False) -> Iterator[Result]:
    """Run the checks whose name contains `pattern`, one per core at a time; results are in the fixed order."""
    checks = [check for check in list_checks(quick) if pattern in check.name]
    yield from (run_check(check) for check in checks if check.first)
    checks = [check for check in checks if not check.first]
    with ThreadPoolExecutor(count_processors()) as pool:
        yield from pool.map(run_check, checks)


def run_check(check: Check) -> Result:
    """Run one check. An exception becomes its result, so that the other checks still run."""
    try:
        return Result(check.name, "passed", check.run())
    except SkipError as reason:
        return Result(check.name, "skipped", str(reason))
    except (FailureError, RocmSdkError) as reason:
        return Result(check.name, "failed", str(reason))
    except Exception as error:
        return Result(check.name, "failed", f"{type(error).__name__}: {error}")


def summarize(results: Iterable[Result]) -> dict[str, int]:
    """Return the number of results by outcome."""
    outcomes = [result.outcome for result in results]
    return {outcome: outcomes.count(outcome) for outcome in OUTCOMES}


def as_json(results: Iterable[Result]) -> str:
    """Return the results as a JSON object: `summary`, and `results` in their order."""
    listed = list(results)
    return json.dumps({"summary": summarize(listed), "results": [asdict(result) for result in listed]}, indent=2)


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
