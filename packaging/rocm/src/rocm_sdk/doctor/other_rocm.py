"""Checks for another ROCm on the machine, which build tools or the loader may take instead of these packages.

Frameworks beside the packages may bring one as well, or be builds for CUDA, or lack what they import.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from ..elf import read_dynamic
from ..installation import install
from . import Finding
from .facts import Facts

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
# A console script is this short; what is longer is a program of its own.
_SCRIPT_BYTES = 1 << 12
#: Frameworks that have builds for CUDA under the same name, and where their builds for ROCm are found.
FRAMEWORKS = {
    "torch": "https://pytorch.org/get-started/locally/",
    "vllm": "https://docs.vllm.ai/en/latest/getting_started/installation/gpu.html",
}
#: What frameworks built for ROCm import: Python packages that some builds of ROCm's packages have.
IMPORTED = {"vllm": "amdsmi"}
# What the libraries of a build for CUDA need, by the beginning of the name.
_CUDA_LIBRARIES = ("libcudart.so", "libcuda.so", "libtorch_cuda.so")


def other_roots(facts: Facts) -> Iterator[Finding]:
    """Find a second ROCm in the places where systems install it."""
    places = {path.resolve() for pattern in SYSTEM_ROOTS for path in facts.root.glob(pattern)}
    for path in sorted(places):
        if (path / "lib").is_dir() and not facts.is_ours(path):
            yield second(f"{path}", "Programs that were linked against it load it, not these packages")
    for below in SYSTEM_LIBRARIES:
        directory = facts.root / below
        libraries = sorted(path.name for name in TELLTALE_LIBRARIES for path in directory.glob(name))
        if libraries and not directory.is_symlink():
            yield second(f"{directory} ({', '.join(libraries)})", "Whatever has no RPATH loads it")


def other_variables(facts: Facts) -> Iterator[Finding]:
    """Find variables that lead build tools to another ROCm."""
    for name in ROOT_VARIABLES:
        value = facts.environ.get(name, "")
        if value and not facts.is_ours(Path(value)):
            text = f"{name} is {value}, which is not the development tree of these packages"
            yield Finding("variable", "warning", text, f'Unset {name}, or set it for these: eval "$(rocm-sdk env)"')


def other_programs(facts: Facts) -> Iterator[Finding]:
    """Find ROCm's programs on PATH that are neither the packages' console scripts, nor in one of their trees."""
    ours = _console_scripts(facts)
    path = facts.environ.get("PATH", "")
    for program in PROGRAMS:
        found = shutil.which(program, path=path) if path else None
        is_ours = found is None or Path(found).resolve() in ours or facts.is_ours(Path(found))
        if found and not is_ours and not _calls_us(Path(found), facts):
            yield second(f"{found}", f"PATH has it as `{program}`")


def _console_scripts(facts: Facts) -> set[Path]:
    """Return the console scripts that the packages' RECORDs list."""
    rows = [(package, row.path) for package in facts.all_packages for row in package.rows()]
    return {package.locate(path).resolve() for package, path in rows if "/bin/" in path and path.startswith("..")}


def _calls_us(script: Path, facts: Facts) -> bool:
    """Return whether a program is a console script of these packages, although no RECORD lists it.

    So it is with rpm. A console script names its Python, which is another one in another environment: behind `#!`, or
    in the line below if the path is too long for that.
    """
    text = script.read_bytes()[:_SCRIPT_BYTES]
    names = [package.names.import_name for package in facts.all_packages if package.names.import_name]
    is_own_python = os.fsencode(Path(sys.executable).parent) + os.sep.encode() in text
    return is_own_python and any(f"from {name}._cli".encode() in text for name in names)


def second(where: str, effect: str) -> Finding:
    """Return the finding that there is another ROCm somewhere, and what comes of it."""
    return Finding(
        "second", "warning", f"there is another ROCm: {where}", f"{effect}. Remove it if you do not need it."
    )


def cuda_builds(facts: Facts) -> Iterator[Finding]:
    """Find frameworks on the module search path that were built for CUDA: they do not use AMD's GPUs."""
    for name, page in FRAMEWORKS.items():
        package = _find(facts, name)
        library = next(_cuda_libraries(package), None) if package else None
        if library is not None:
            text = f"{name} in {package} is a build for CUDA, which does not use AMD's GPUs ({library} needs it)"
            remedy = f"Replace it with the build for ROCm: {page}"
            yield Finding("framework", "warning", text, remedy)


def missing_imports(facts: Facts) -> Iterator[Finding]:
    """Find frameworks on the module search path that import what is not there."""
    for name, module in IMPORTED.items():
        package = _find(facts, name)
        if package and not _find(facts, module) and not next(_cuda_libraries(package), None):
            text = f"{name} in {package} imports {module}, which is in no directory of the module search path"
            remedy = f"Install that of ROCm {facts.known.version}: {install(module, facts.installer)}"
            yield Finding("framework", "warning", text, remedy)


def _find(facts: Facts, name: str) -> Path | None:
    """Return the directory of the Python package that a program would import; None if there is none."""
    places = [Path(directory) / name for directory in facts.module_path if directory]
    return next((place for place in places if (place / "__init__.py").is_file()), None)


def _cuda_libraries(package: Path) -> Iterator[str]:
    """Yield the libraries of a framework that need CUDA's."""
    for path in sorted([*package.glob("*.so"), *package.glob("lib/*.so")]):
        try:
            dynamic = read_dynamic(path)
        except (OSError, ValueError):
            continue
        if dynamic is not None and any(needed.startswith(_CUDA_LIBRARIES) for needed in dynamic.needed):
            yield path.relative_to(package).as_posix()


def bundled_copies(facts: Facts) -> Iterator[Finding]:
    """Find Python packages on the module search path with a HIP of their own, as builds of PyTorch had it."""
    directories = dict.fromkeys(Path(directory) for directory in facts.module_path if directory)
    for library in sorted(found for directory in directories for found in directory.glob("*/lib/libamdhip64*.so*")):
        if not facts.is_ours(library):
            yield second(f"{library}", "A process with both fails. Install a build that requires `rocm`, or none")
