"""The public list of libraries by short name: which package has each, in which directory, under which file name.

Data alone, so that `init_py`, which the packages' build runs too, needs nothing of an installation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Where a library that others link against can lie, in the trees of core and libraries.
LIBRARY_DIRECTORIES = ("lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib")


@dataclass(frozen=True)
class Library:
    """One public library: the role of the package that has it, its file name up to `.so`, its directory in the tree."""

    package: str
    stem: str
    directory: str = "lib"
    optional: bool = False

    @property
    def pattern(self) -> str:
        """The file's name as a glob."""
        return f"{self.stem}.so*"

    def is_named(self, file_name: str) -> bool:
        """Return whether a file of that name is this library, under its SONAME or without a version."""
        return file_name == f"{self.stem}.so" or file_name.startswith(f"{self.stem}.so.")


LIBRARIES = {
    "amdhip64": Library("core", "libamdhip64"),
    "hiprtc": Library("core", "libhiprtc"),
    "hipfile": Library("core", "libhipfile"),
    "roctx64": Library("core", "libroctx64"),
    "rocprofiler-sdk": Library("core", "librocprofiler-sdk"),
    "rocprofiler-sdk-roctx": Library("core", "librocprofiler-sdk-roctx"),
    "roctracer64": Library("core", "libroctracer64"),
    "rocm_sysdeps_liblzma": Library("core", "librocm_sysdeps_liblzma", "lib/rocm_sysdeps/lib"),
    "rocm-openblas": Library("core", "librocm-openblas", "lib/host-math/lib"),
    "amd_comgr": Library("core", "libamd_comgr"),
    "rocm_kpack": Library("core", "librocm_kpack"),
    "rocm_smi64": Library("core", "librocm_smi64"),
    "rocdecode": Library("core", "librocdecode"),
    "rocjpeg": Library("core", "librocjpeg"),
    "amd_smi": Library("core", "libamd_smi"),
    "rocdxg": Library("core", "librocdxg", optional=True),
    "rpp": Library("libraries", "librpp"),
    "hipblas": Library("libraries", "libhipblas"),
    "hipblaslt": Library("libraries", "libhipblaslt"),
    "hipfft": Library("libraries", "libhipfft"),
    "hiprand": Library("libraries", "libhiprand"),
    "hipsparse": Library("libraries", "libhipsparse"),
    "hipsparselt": Library("libraries", "libhipsparselt"),
    "hipsolver": Library("libraries", "libhipsolver"),
    "rccl": Library("libraries", "librccl"),
    "miopen": Library("libraries", "libMIOpen"),
    "origami": Library("libraries", "liborigami"),
    "hipdnn": Library("libraries", "libhipdnn_backend"),
    # Not in AMD's list, but extensions link against them directly, past the hip* interfaces.
    "hsa-runtime64": Library("core", "libhsa-runtime64"),
    "rocblas": Library("libraries", "librocblas"),
    "rocfft": Library("libraries", "librocfft"),
    "rocrand": Library("libraries", "librocrand"),
    "rocsolver": Library("libraries", "librocsolver"),
    "rocsparse": Library("libraries", "librocsparse"),
}


def version_key(file_name: str) -> tuple[int, ...]:
    """Return the numbers behind `.so` in a file name, to sort by: `libx.so.10` comes after `libx.so.9`."""
    return tuple(int(number) for number in re.findall(r"\d+", file_name.partition(".so")[2]))
