"""Finding and preloading the shared libraries of the packages by short name.

The table is the public list of libraries: which package has one, in which directory, under which file name.
Extension modules that were linked without an RPATH to these packages call `preload_libraries` (through
`rocm_sdk.initialize_process`) so that the dynamic loader finds the SONAMEs they need already loaded.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

from .distributions import Distributions, PackageNames, load_distributions, load_selection
from .installation import InstalledPackage, find_package


@dataclass(frozen=True)
class Library:
    """One public library: the role of the package that has it, its file name as a glob, its directory in the tree."""

    package: str
    pattern: str
    directory: str = "lib"
    optional: bool = False


LIBRARIES = {
    "amdhip64": Library("core", "libamdhip64.so*"),
    "hiprtc": Library("core", "libhiprtc.so*"),
    "hipfile": Library("core", "libhipfile.so*"),
    "roctx64": Library("core", "libroctx64.so*"),
    "rocprofiler-sdk": Library("core", "librocprofiler-sdk.so*"),
    "rocprofiler-sdk-roctx": Library("core", "librocprofiler-sdk-roctx.so*"),
    "roctracer64": Library("core", "libroctracer64.so*"),
    "rocm_sysdeps_liblzma": Library("core", "librocm_sysdeps_liblzma.so*", "lib/rocm_sysdeps/lib"),
    "rocm-openblas": Library("core", "librocm-openblas.so*", "lib/host-math/lib"),
    "amd_comgr": Library("core", "libamd_comgr.so*"),
    "rocm_kpack": Library("core", "librocm_kpack.so*"),
    "rocm_smi64": Library("core", "librocm_smi64.so*"),
    "rocdecode": Library("core", "librocdecode.so*"),
    "rocjpeg": Library("core", "librocjpeg.so*"),
    "amd_smi": Library("core", "libamd_smi.so*"),
    "rocdxg": Library("core", "librocdxg.so*", optional=True),
    "rpp": Library("libraries", "librpp.so*"),
    "hipblas": Library("libraries", "libhipblas.so*"),
    "hipblaslt": Library("libraries", "libhipblaslt.so*"),
    "hipfft": Library("libraries", "libhipfft.so*"),
    "hiprand": Library("libraries", "libhiprand.so*"),
    "hipsparse": Library("libraries", "libhipsparse.so*"),
    "hipsparselt": Library("libraries", "libhipsparselt.so*"),
    "hipsolver": Library("libraries", "libhipsolver.so*"),
    "rccl": Library("libraries", "librccl.so*"),
    "miopen": Library("libraries", "libMIOpen.so*"),
    "origami": Library("libraries", "liborigami.so*"),
    "hipdnn": Library("libraries", "libhipdnn_backend.so*"),
}

_LOADED: dict[str, ctypes.CDLL] = {}


def find_libraries(*shortnames: str) -> list[Path]:
    """Return the absolute paths of the libraries, in the order asked for; optional ones may be left out.

    Raises ModuleNotFoundError if a name is unknown or a package is not installed (it names each missing package and
    the command that installs it), FileNotFoundError if an installed package does not have the library.
    """
    unknown = [name for name in shortnames if name not in LIBRARIES]
    if unknown:
        raise ModuleNotFoundError(f"unknown ROCm library {', '.join(unknown)}; known: {', '.join(sorted(LIBRARIES))}")
    distributions = load_distributions()
    roles = sorted({LIBRARIES[name].package for name in shortnames})
    not_built = [role for role in roles if role not in distributions.packages]
    if not_built:
        raise ModuleNotFoundError(f"rocm {distributions.version} was built without the package `{not_built[0]}`")
    packages = {role: find_role(role, distributions) for role in roles}
    missing = [role for role, package in packages.items() if package is None]
    if missing:
        raise ModuleNotFoundError(_missing_message(missing, shortnames, distributions))
    found = [(name, package) for name in shortnames for package in [packages[LIBRARIES[name].package]] if package]
    paths = [_locate(name, package) for name, package in found]
    return [path for path in paths if path is not None]


def preload_libraries(*shortnames: str, rtld_global: bool = True) -> None:
    """Load the libraries into this process, once each, and keep them loaded.

    `rtld_global` makes their symbols available to libraries loaded later. Optional libraries that are not there are
    passed over. Raises what `find_libraries` raises, and OSError if the dynamic loader refuses a library.
    """
    mode = ctypes.RTLD_GLOBAL if rtld_global else ctypes.RTLD_LOCAL
    for name in shortnames:
        if name not in _LOADED:
            for path in find_libraries(name):
                _LOADED[name] = ctypes.CDLL(str(path), mode=mode)


def find_role(role: str, distributions: Distributions) -> InstalledPackage | None:
    """Return the installed package of that role; among several of a kind, the one of the target chosen at install."""
    for names in role_candidates(role, distributions):
        package = find_package(names)
        if package is not None:
            return package
    return None


def role_candidates(role: str, distributions: Distributions) -> list[PackageNames]:
    """Return the packages that can play a role, the one for the chosen target first; none if it was not built."""
    names = distributions.packages.get(role)
    if names is None:
        return []
    if not names.is_per_target:
        return [names]
    chosen = str((load_selection() or {}).get("target", distributions.default_target))
    return [names.for_target(target) for target in dict.fromkeys([chosen, *distributions.targets])]


def _locate(shortname: str, package: InstalledPackage) -> Path | None:
    library = LIBRARIES[shortname]
    directory = package.tree / library.directory
    matches = sorted(directory.glob(library.pattern))
    if matches:
        # The file named like the SONAME is the library itself; an unversioned name may only stand for it.
        return next((path for path in matches if ".so." in path.name), matches[0])
    if library.optional:
        return None
    raise FileNotFoundError(
        f"{package.names.distribution} {package.version} has no library {shortname!r}: nothing in {directory} matches "
        f"{library.pattern}. Reinstall the package if it should have it."
    )


def _missing_message(roles: list[str], shortnames: tuple[str, ...], distributions: Distributions) -> str:
    names = [role_candidates(role, distributions)[0].distribution for role in roles]
    wanted = [f"{name}=={distributions.version}" for name in names]
    needed_by = ", ".join(name for name in shortnames if LIBRARIES[name].package in roles)
    extras = ",".join(role for role in roles if role != "core")
    command = f'pip install "rocm[{extras}]=={distributions.version}"' if extras else f'pip install "{wanted[0]}"'
    return f"{needed_by}: not installed: {', '.join(wanted)}. Install with: {command}"
