"""Checks of libraries: do they load here, is there only one HIP, what do variables make the loader do."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..environment import OPENCL_VARIABLE
from ..libraries import find_libraries, library_directories, listed_libraries
from ..library_table import LIBRARY_DIRECTORIES, LIBRARY_GLOB
from ..selfcheck import FailureError, plain_environment, run_python
from ..system import IS_WINDOWS, noexec
from . import Finding
from .facts import Facts

SEARCH_VARIABLE = "LD_LIBRARY_PATH"
HIP = "amdhip64"
# Loads libraries one after the other; prints which cannot be loaded, and the files of HIP in this process (proc(5)).
_PROBE = """
import ctypes, json, os, sys
libraries, directories = json.loads(sys.argv[1])
kept = [os.add_dll_directory(directory) for directory in directories]
failures = {}
for library in libraries:
    try:
        ctypes.CDLL(library)
    except OSError as error:
        failures[library] = str(error)
maps = open("/proc/self/maps", errors="surrogateescape") if os.path.exists("/proc/self/maps") else ()
names = {line.rstrip("\\n").split(None, 5)[-1] for line in maps}
hips = sorted(name for name in names if os.path.basename(name).startswith("libamdhip64"))
print(json.dumps([failures, hips]), flush=True)
os._exit(0)  # What libraries do at the end is not asked.
"""
# What the loader says if a library of the system, here `file`, lacks a version that ours need.
_VERSION = re.compile(r"(?P<file>\S+): version `(?P<version>(?P<family>GLIBC|GLIBCXX|CXXABI)_[^']+)' not found")
_OLD_CXX = "apt install libstdc++6, dnf upgrade libstdc++, or conda install -c conda-forge libstdcxx"


@dataclass(frozen=True)
class Loaded:
    """Result of loading libraries: the loader's message for each that failed, and the files of HIP in use."""

    failures: Mapping[Path, str] = field(default_factory=dict)
    runtimes: Sequence[Path] = ()


def load(libraries: Sequence[Path], directories: Sequence[Path], environ: Mapping[str, str]) -> Loaded:
    """Load libraries into a Python process of its own, with an environment; Windows looks in `directories`."""
    question = json.dumps([[str(path) for path in libraries], [str(path) for path in directories]])
    try:
        failures, runtimes = json.loads(run_python(_PROBE, question, environ=environ).splitlines()[-1])
    except FailureError as failure:
        return Loaded({libraries[0]: str(failure)})
    return Loaded({Path(path): words for path, words in failures.items()}, [Path(path) for path in runtimes])


def libraries_here(
    facts: Facts, load: Callable[[Sequence[Path], Sequence[Path], Mapping[str, str]], Loaded] = load
) -> Iterator[Finding]:
    """Find public libraries that do not load as the user's programs load them, and a second HIP beside ours."""
    libraries = _public_libraries()
    if not libraries:
        return
    directories = library_directories(facts.known) if IS_WINDOWS else []
    here = load(libraries, directories, facts.environ)
    if here.failures:
        plain = load(libraries, directories, plain_environment())
        yield from _refused(here.failures, plain.failures)
    ours = [path for path in here.runtimes if facts.is_ours(path)]
    for path in here.runtimes:
        if path not in ours:
            beside = f" beside {ours[0]}" if ours else ""
            text = f"every Python process here loads a second HIP, {path}{beside}"
            remedy = f"Find out what loads it: LD_PRELOAD={facts.environ.get('LD_PRELOAD', '')}, {SEARCH_VARIABLE}, "
            yield Finding("loaded", "problem", text, f"{remedy}or a .pth file or sitecustomize.py in site-packages.")


def _refused(failures: Mapping[Path, str], plain: Mapping[Path, str]) -> Iterator[Finding]:
    """Say why libraries do not load; `plain` has those that do not load without the user's variables either.

    One finding is enough: the others mostly fail for the same reason.
    """
    path, words = next(iter(failures.items()))
    yield Finding("loader", "problem", f"{path} does not load: {words}", _loading_remedy(path, failures, plain))


def _loading_remedy(path: Path, failures: Mapping[Path, str], plain: Mapping[Path, str]) -> str:
    if remedy := noexec(path):
        return remedy
    old = [match for words in failures.values() for match in _VERSION.finditer(words)]
    if path not in plain:
        files = f", which lead to {old[0]['file']}" if old else ""
        return f"It loads without LD_LIBRARY_PATH and LD_PRELOAD{files}: unset them."
    for match in old:
        if match["family"] == "GLIBC":
            version = match["version"]
            return f"These packages are for newer systems: the C library of this one is too old ({version} is missing)."
    if old:
        return f"The C++ library {old[0]['file']} is too old ({old[0]['version']} is missing). Update it: {_OLD_CXX}"
    return "`rocm-sdk test -k library:` shows all that does not load."


def _public_libraries() -> list[Path]:
    """Return the libraries of the table that are installed, HIP first."""
    found = []
    for name in sorted(listed_libraries(), key=lambda name: name != HIP):
        try:
            found += find_libraries(name)
        except (ModuleNotFoundError, FileNotFoundError):
            continue
    return found


def shadowed_libraries(facts: Facts) -> Iterator[Finding]:
    """Find directories of LD_LIBRARY_PATH with libraries of the same names as the packages'.

    Our own files do not see them, because DT_RPATH comes first (ld.so(8)). Extension modules without an RPATH do, and
    two instances of one library in a process lead to crashes.
    """
    trees = facts.trees
    ours = {path.name for tree in trees for below in LIBRARY_DIRECTORIES for path in (tree / below).glob(LIBRARY_GLOB)}
    for directory in filter(None, facts.environ.get(SEARCH_VARIABLE, "").split(os.pathsep)):
        if facts.is_ours(Path(directory)) or not Path(directory).is_dir():
            continue
        names = sorted(path.name for path in Path(directory).iterdir() if path.name in ours)
        if names:
            text = f"{SEARCH_VARIABLE} has {directory}, whose {', '.join(names[:3])} ({len(names)} in all) hide ours"
            yield Finding("shadowed", "problem", text, f"Take {directory} out of {SEARCH_VARIABLE}.")


def opencl_drivers(facts: Facts) -> Iterator[Finding]:
    """Find drivers for OpenCL's loaders that are not there: the loaders pass over them without a word."""
    for name in (OPENCL_VARIABLE, "OCL_ICD_VENDORS"):
        for path in facts.environ.get(name, "").split(os.pathsep):
            if Path(path).is_absolute() and not Path(path).exists():
                text = f"{name} names {path}, which is not there: OpenCL's loader does not find the driver"
                yield Finding("opencl", "problem", text, f'unset {name}, then eval "$(rocm-sdk env)"')
