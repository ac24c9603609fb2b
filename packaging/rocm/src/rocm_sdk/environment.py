"""The environment variables for building against the development tree: `rocm-sdk env`.

In search paths, ROCm comes first, then its Python environment, then the former value of the variable, then the system:
a header or library of another ROCm must not get in between. LD_LIBRARY_PATH is not among the variables: programs find
the libraries by their RPATH, or by preloading.

All functions are pure, except that they look for directories. `build_variables` returns the values.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import RocmSdkError

SHELLS = ("bash", "fish", "json")

# Variables that list directories, and the directory that each wants of a prefix. Compilers read CPATH and LIBRARY_PATH
# (GCC and Clang: after -I and -L, before the system's), CMake and pkg-config the others.
_SEARCH = {
    "PATH": "bin",
    "CMAKE_PREFIX_PATH": "",
    "CPATH": "include",
    "LIBRARY_PATH": "lib",
    "PKG_CONFIG_PATH": "lib/pkgconfig",
}


# To CMake, directories of LIBRARY_PATH are the system's, to which programs need no RPATH; except those that are listed
# here (CMake 3.27 and newer), for each language.
_NOT_IMPLICIT = "CMAKE_{}_IMPLICIT_LINK_DIRECTORIES_EXCLUDE"
_LANGUAGES = ("C", "CXX", "Fortran", "HIP")
# Where builds of ROCm have the device libraries (bitcode that is linked into kernels), and a library that all have.
_DEVICE_LIBRARIES = ("lib/llvm/amdgcn/bitcode", "amdgcn/bitcode", "lib/llvm/lib/clang/*/amdgcn/bitcode")
_DEVICE_LIBRARY = "ockl.bc"
OPENCL_VARIABLE = "OCL_ICD_FILENAMES"
# What the OpenCL loader of Khronos loads beside the drivers that the system has registered. The other loader, ocl-icd,
# does not know such a variable; its own, OCL_ICD_VENDORS, would hide all other drivers. What is in `etc/OpenCL/vendors`
# of the tree is a name without a directory, and no loader looks there. AMD moved the driver in 2026.
_OPENCL_DRIVERS = ("lib/opencl/libamdocl64.so*", "lib/libamdocl64.so*")
# By this option, clang gives programs an RPATH that leads to the HIP runtime.
_ADD_RPATH = "-frtlib-add-rpath"


def build_variables(root: Path, prefix: Path | None, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to set: `root` is the development tree, `prefix` the Python environment, if there is one.

    Search paths in `environ` are extended. The result does not change when it is put into `environ` and this is called
    again. Raises RocmSdkError if a search path cannot hold one of the directories.
    """
    variables = {
        "ROCM_PATH": str(root),
        "HIP_PATH": str(root),
        "HIP_PLATFORM": "amd",
        "HIP_CLANG_PATH": str(root / "lib/llvm/bin"),
        "HIPCC_LINK_FLAGS_APPEND": _with_option(environ.get("HIPCC_LINK_FLAGS_APPEND", ""), _ADD_RPATH),
    }
    # Where ROCM_PATH is set, clang looks for them nowhere but in its own favourite place below that.
    found = [path.parent for place in _DEVICE_LIBRARIES for path in sorted(root.glob(f"{place}/{_DEVICE_LIBRARY}"))]
    if found:
        variables["HIP_DEVICE_LIB_PATH"] = str(found[0])
    drivers = [path for place in _OPENCL_DRIVERS for path in sorted(root.glob(place)) if path.is_file()]
    if drivers:
        variables[OPENCL_VARIABLE] = join_paths([str(drivers[0])], environ.get(OPENCL_VARIABLE, ""))
    for name, below in _SEARCH.items():
        places = [place / below for place in (root, prefix) if place]
        value = join_paths([str(place) for place in places if place.is_dir()], environ.get(name, ""))
        if value:
            variables[name] = value
    directories = [str(place / "lib") for place in (root, prefix) if place and (place / "lib").is_dir()]
    for name in map(_NOT_IMPLICIT.format, _LANGUAGES):
        value = ";".join(dict.fromkeys([*directories, *filter(None, environ.get(name, "").split(";"))]))
        if value:
            variables[name] = value
    return variables


def _with_option(options: str, option: str) -> str:
    return options if option in options.split() else f"{options} {option}".strip()


def join_paths(first: Sequence[str], value: str) -> str:
    """Return a search path: the directories `first`, then the other directories of `value`, each once.

    Empty entries, which stand for the current directory, are left out. Raises RocmSdkError for a directory with a `:`.
    """
    bad = [directory for directory in first if os.pathsep in directory]
    if bad:
        raise RocmSdkError(
            f"{bad[0]} has {os.pathsep!r} in its name, which no search path can hold. Install ROCm somewhere else."
        )
    return os.pathsep.join(dict.fromkeys([*first, *filter(None, value.split(os.pathsep))]))


def environment_prefix() -> Path | None:
    """Return the directory of the virtual or conda environment of this Python, None for the system's own Python."""
    own = sys.prefix != sys.base_prefix or Path(sys.prefix, "conda-meta").is_dir()
    return Path(sys.prefix) if own else None


def format_variables(variables: Mapping[str, str], shell: str) -> str:
    """Return the variables as commands for `shell`, one of SHELLS: `bash` serves every POSIX shell, `json` programs."""
    if shell == "json":
        return json.dumps(dict(variables), indent=2)
    quote, command = (_quote_fish, "set -gx {} {}") if shell == "fish" else (shlex.quote, "export {}={}")
    return "\n".join(command.format(name, quote(value)) for name, value in variables.items())


def _quote_fish(text: str) -> str:
    r"""Return a word for fish: within single quotes `\\` and `\'` are escapes, all else stands for itself."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
