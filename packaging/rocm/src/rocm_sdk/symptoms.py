"""What `rocm-sdk doctor` looks for. Each function takes what it looks at as arguments and yields findings."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .detect import Gpu
from .distributions import Distributions
from .installation import InstalledPackage, is_same_release, list_dist_infos
from .library_table import LIBRARIES, LIBRARY_DIRECTORIES, LIBRARY_GLOB
from .process import PRELOAD_VARIABLE, split_list

# Where ROCm is installed by its own packages (/opt/rocm, /opt/rocm-6.4.1) and by distributions.
SYSTEM_ROOTS = ("opt/rocm*",)
SYSTEM_LIBRARIES = ("usr/lib", "usr/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/local/lib")
TELLTALE_LIBRARIES = ("libamdhip64.so*", "libhsa-runtime64.so*")
# Variables that tell build tools where ROCm is, and programs that are asked for it.
ROOT_VARIABLES = (
    "ROCM_PATH",
    "ROCM_HOME",
    "ROCM_ROOT",
    "HIP_PATH",
    "HIP_CLANG_PATH",
    "HIP_DEVICE_LIB_PATH",
    "HSA_PATH",
)
PROGRAMS = ("hipcc", "hipconfig", "amdclang", "rocminfo")
KFD_DEVICE = "dev/kfd"


#: The worst first.
SEVERITIES = ("problem", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """What was found: `severity` is one of SEVERITIES, `text` says what is, `remedy` what to do."""

    name: str
    severity: str
    text: str
    remedy: str = ""


def missing_core(known: Distributions, packages: Mapping[str, InstalledPackage]) -> Iterator[Finding]:
    """Find out whether there is anything installed but `rocm`."""
    core = known.packages["core"].distribution
    if core not in packages:
        yield Finding("core", "problem", f"{core} is not installed", f'pip install "{core}=={known.version}"')


def scattered(packages: Mapping[str, InstalledPackage]) -> Iterator[Finding]:
    """Find packages that are not beside each other: their files' search paths lead from one to the next."""
    places: dict[Path, list[str]] = {}
    for name, package in sorted(packages.items()):
        places.setdefault(package.site, []).append(name)
    if len(places) > 1:
        text = "; ".join(f"{', '.join(names)} in {site}" for site, names in sorted(places.items()))
        yield Finding(
            "places", "problem", f"the packages are in several directories: {text}", "Install all into one environment."
        )


def unloadable(library: Path | None, load: Callable[[Path], str]) -> Iterator[Finding]:
    """Find out whether the system's loader takes HIP; `load` returns what it says if not, else nothing."""
    said = load(library) if library else ""
    if library and said:
        newer = "The packages need a newer system: its C library is too old. " if "GLIBC_" in said else ""
        remedy = f"{newer}`rocm-sdk test -k library:` shows all that does not load."
        yield Finding("loader", "problem", f"{library} does not load: {said}", remedy)


def bundled_copies(path: Sequence[str], trees: Sequence[Path]) -> Iterator[Finding]:
    """Find Python packages on the module search path with a HIP of their own, as builds of PyTorch had it."""
    directories = dict.fromkeys(Path(directory) for directory in path if directory)
    for library in sorted(found for directory in directories for found in directory.glob("*/lib/libamdhip64*.so*")):
        if not _is_ours(library, trees):
            yield _second(f"{library}", "A process with both fails. Install a build that requires `rocm`, or none")


def version_skew(known: Distributions, sites: Sequence[Path]) -> Iterator[Finding]:
    """Find packages of ROCm beside `rocm` that are of another version, or of a build of another layout."""
    ours = {names.distribution for names in (*known.packages.values(), *known.target_packages().values())}
    normal = {name.lower() for name in ours}
    for site in sites:
        for name, dist_info in sorted(list_dist_infos(site, known).items()):
            if not (name.startswith("rocm-sdk-") or name in ("rocm", "rocm-profiler")):
                continue
            version = InstalledPackage(known.packages["core"], site, dist_info).version
            if not is_same_release(version, known.version):
                text = f"rocm is {known.version}, but {name} is {version} (in {site})"
                yield Finding("versions", "problem", text, f'pip install "{name}=={known.version}"')
            elif name not in normal and name != "rocm":
                text = f"{name} is not among the packages of rocm {known.version}"
                yield Finding("versions", "warning", text, f"pip uninstall {name}")


def closed_device(root: Path, gpus: Sequence[Gpu]) -> Iterator[Finding]:
    """Find out whether this user may use the GPUs that the kernel driver shows."""
    device = root / KFD_DEVICE
    if not any(gpu.source == "kfd" for gpu in gpus) or os.access(device, os.R_OK | os.W_OK):
        return
    if device.exists():
        yield Finding(
            "access", "problem", f"{device} cannot be opened by this user", "sudo usermod -a -G render,video $USER"
        )
    else:
        text = f"the kernel driver shows GPUs, but there is no {device}"
        yield Finding("access", "problem", text, "In a container: start it with --device=/dev/kfd --device=/dev/dri.")


def shadowed_libraries(environ: Mapping[str, str], trees: Sequence[Path]) -> Iterator[Finding]:
    """Find directories of LD_LIBRARY_PATH with libraries that have the names of ours.

    Our own files do not see them, because DT_RPATH comes first (ld.so(8)). Extension modules without an RPATH do, and
    two instances of one library in a process lead to crashes.
    """
    ours = {path.name for tree in trees for below in LIBRARY_DIRECTORIES for path in (tree / below).glob(LIBRARY_GLOB)}
    for directory in filter(None, environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)):
        if _is_ours(Path(directory), trees) or not Path(directory).is_dir():
            continue
        names = sorted(path.name for path in Path(directory).iterdir() if path.name in ours)
        if names:
            text = f"LD_LIBRARY_PATH has {directory}, whose {', '.join(names[:3])} ({len(names)} in all) hide ours"
            yield Finding("shadowed", "problem", text, f"Take {directory} out of LD_LIBRARY_PATH.")


def unknown_preloads(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Find names in ROCM_SDK_PRELOAD_LIBRARIES that stand for no library: every program that preloads stops there."""
    unknown = [name for name in split_list(environ.get(PRELOAD_VARIABLE, "")) if name not in LIBRARIES]
    if unknown:
        text = f"{PRELOAD_VARIABLE} names unknown libraries: {', '.join(unknown)}"
        yield Finding("preload", "problem", text, f"Known are {', '.join(sorted(LIBRARIES))}.")


def other_roots(root: Path, trees: Sequence[Path]) -> Iterator[Finding]:
    """Find a second ROCm in the places where systems install it."""
    found = sorted(
        {path.resolve() for pattern in SYSTEM_ROOTS for path in root.glob(pattern) if (path / "lib").is_dir()}
    )
    for path in found:
        if not _is_ours(path, trees):
            yield _second(f"{path}", "Programs that were linked against it load it, not these packages")
    for below in SYSTEM_LIBRARIES:
        libraries = sorted(path.name for name in TELLTALE_LIBRARIES for path in (root / below).glob(name))
        if libraries and not (root / below).is_symlink():
            yield _second(f"{root / below} ({', '.join(libraries)})", "Whatever has no RPATH loads it")


def other_variables(environ: Mapping[str, str], trees: Sequence[Path]) -> Iterator[Finding]:
    """Find variables that lead build tools to another ROCm."""
    for name in ROOT_VARIABLES:
        value = environ.get(name, "")
        if value and not _is_ours(Path(value), trees):
            text = f"{name} is {value}, which is not the development tree of these packages"
            yield Finding("variable", "warning", text, f'Unset {name}, or set it for these: eval "$(rocm-sdk env)"')


def other_programs(path: str, ours: Collection[Path], trees: Sequence[Path]) -> Iterator[Finding]:
    """Find ROCm's programs on the search path `path` that are neither `ours`, the console scripts, nor in a tree."""
    for program in PROGRAMS:
        found = shutil.which(program, path=path) if path else None
        if found and Path(found).resolve() not in ours and not _is_ours(Path(found), trees):
            yield _second(f"{found}", f"PATH has it as `{program}`")


def _second(where: str, effect: str) -> Finding:
    return Finding(
        "second", "warning", f"there is another ROCm: {where}", f"{effect}. Remove it if you do not need it."
    )


def _is_ours(path: Path, trees: Sequence[Path]) -> bool:
    resolved = path.resolve()
    return any(place.resolve() in (resolved, *resolved.parents) for place in trees)
