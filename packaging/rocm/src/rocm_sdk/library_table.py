"""The public list of libraries by short name: which package has each, in which directory, under which file name.

Data alone, so that `init_py`, which the packages' build runs too, needs nothing of an installation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .library_name import parse_library_name
from .system import IS_WINDOWS

# Where DLLs lie in the trees of core and libraries. The build's tools have a copy, in `constants.py` of PE files; a
# test compares them.
DLL_DIRECTORIES = ("bin",)
# Where a library that others link against can lie there; in other directories nothing here looks for one. What loads it
# finds it by RPATHs, whose directories the build lists apart, in `packages.bzl`.
LIBRARY_DIRECTORIES = (
    DLL_DIRECTORIES
    if IS_WINDOWS
    else ("lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib", "lib/opencl")
)
# The files in them that may be libraries.
LIBRARY_GLOB = "*.dll" if IS_WINDOWS else "*.so*"


@dataclass(frozen=True)
class Library:
    """One public library: the role of the package that has it, its file name up to `.so`, its directory in the tree.

    On Windows all lie in `bin`. There, names have `lib` in front or not, and their version before `.dll`, as their
    builds decide: `amdhip64_7.dll`, `libhipblas.dll`, `hiprtc0701.dll`. A library that a program has registered has
    `globs` instead of `stem`: of its file name, and of its DLL's, which is empty if it has none.
    """

    package: str
    stem: str
    directory: str = "lib"
    optional: bool = False
    on_windows: bool = False
    globs: tuple[str, str] | None = None

    @property
    def patterns(self) -> tuple[str, str]:
        """The file's name as a glob, and its DLL's; what has that may be another library as well: see `is_named`."""
        return self.globs or (f"{self.stem}.so*", f"*{self.stem[3:]}*.dll" if self.on_windows else "")

    @property
    def pattern(self) -> str:
        """The glob of this platform."""
        return self.patterns[IS_WINDOWS]

    def is_named(self, file_name: str) -> bool:
        """Return whether a file of that name is this library, under its SONAME or without a version, or as a DLL."""
        is_dll = file_name[-4:].lower() == ".dll"
        if self.globs:
            return fnmatchcase(file_name, self.globs[is_dll])
        if is_dll:
            expression = rf"(lib)?{re.escape(self.stem[3:])}[_\d.]*\.dll"
            return re.fullmatch(expression, file_name, re.IGNORECASE) is not None
        name = parse_library_name(file_name)
        return name is not None and name.stem == self.stem


LIBRARIES = {
    "amdhip64": Library("core", "libamdhip64", on_windows=True),
    "hiprtc": Library("core", "libhiprtc", on_windows=True),
    "hipfile": Library("core", "libhipfile"),
    "roctx64": Library("core", "libroctx64"),
    "rocprofiler-sdk": Library("core", "librocprofiler-sdk"),
    "rocprofiler-sdk-roctx": Library("core", "librocprofiler-sdk-roctx"),
    "roctracer64": Library("core", "libroctracer64"),
    "rocm_sysdeps_liblzma": Library("core", "librocm_sysdeps_liblzma", "lib/rocm_sysdeps/lib"),
    "rocm-openblas": Library("core", "librocm-openblas", "lib/host-math/lib", on_windows=True),
    "amd_comgr": Library("core", "libamd_comgr", on_windows=True),
    "rocm_kpack": Library("core", "librocm_kpack", on_windows=True),
    "rocm_smi64": Library("core", "librocm_smi64"),
    "rocdecode": Library("core", "librocdecode"),
    "rocjpeg": Library("core", "librocjpeg"),
    "amd_smi": Library("core", "libamd_smi"),
    "rocdxg": Library("core", "librocdxg", optional=True),
    "rpp": Library("libraries", "librpp"),
    "hipblas": Library("libraries", "libhipblas", on_windows=True),
    "hipblaslt": Library("libraries", "libhipblaslt", on_windows=True),
    "hipfft": Library("libraries", "libhipfft", on_windows=True),
    "hiprand": Library("libraries", "libhiprand", on_windows=True),
    "hipsparse": Library("libraries", "libhipsparse", on_windows=True),
    "hipsparselt": Library("libraries", "libhipsparselt"),
    "hipsolver": Library("libraries", "libhipsolver", on_windows=True),
    "rccl": Library("libraries", "librccl"),
    "miopen": Library("libraries", "libMIOpen", on_windows=True),
    "origami": Library("libraries", "liborigami", on_windows=True),
    "hipdnn": Library("libraries", "libhipdnn_backend", on_windows=True),
    # Not in AMD's list, but extensions link against them directly, past the hip* interfaces.
    "hsa-runtime64": Library("core", "libhsa-runtime64"),
    "rocblas": Library("libraries", "librocblas", on_windows=True),
    "rocfft": Library("libraries", "librocfft", on_windows=True),
    "rocrand": Library("libraries", "librocrand", on_windows=True),
    "rocsolver": Library("libraries", "librocsolver", on_windows=True),
    "rocsparse": Library("libraries", "librocsparse", on_windows=True),
}


def version_key(file_name: str) -> tuple[int, ...]:
    """Return the numbers behind `.so` in a file name, to sort by: `libx.so.10` comes after `libx.so.9`.

    Of a DLL all numbers: what is compared has the same name otherwise.
    """
    name, _, version = file_name.partition(".so")
    return tuple(int(number) for number in re.findall(r"\d+", name if name[-4:].lower() == ".dll" else version))
