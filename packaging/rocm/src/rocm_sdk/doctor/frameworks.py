"""Checks of frameworks beside the packages: builds for CUDA, what they import, and those that bring their own HIP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..elf import read_dynamic
from ..installation import install
from . import Finding
from .facts import Facts
from .other_rocm import second

#: Frameworks that have builds for CUDA under the same name, and where their builds for ROCm are found.
FRAMEWORKS = {
    "torch": "https://pytorch.org/get-started/locally/",
    "vllm": "https://docs.vllm.ai/en/latest/getting_started/installation/gpu.html",
}
#: What frameworks built for ROCm import: Python packages that some builds of ROCm's packages have.
IMPORTED = {"vllm": "amdsmi"}
# What the libraries of a build for CUDA need, by the beginning of the name.
_CUDA_LIBRARIES = ("libcudart.so", "libcuda.so", "libtorch_cuda.so")


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
