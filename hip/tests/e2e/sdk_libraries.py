"""Programs with libraries of the SDK: a part of hip.tests.e2e.programs.

Each program runs as a copy with its runfiles, in another directory: what its library reads and opens came along. What
needs a GPU fails with words that say so. rocBLAS, which hipBLAS loads, has kernels in archives for the targets of the
build alone. The small set of artifacts has rocThrust alone.
"""

import re
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.testing.builds import Workspace, built


@dataclass(frozen=True)
class Program:
    """A program with a library of the SDK."""

    #: Its library, and the libraries that this needs: without one of them, the program is left out.
    libraries: tuple[str, ...]
    #: What it prints on a machine without a GPU.
    words: str
    source: str


BUILD = """
load("@rules_rocm_python//hip:defs.bzl", "hip_binary", "hip_tar")

PROGRAMS = {libraries}

[
    hip_binary(
        name = name,
        srcs = [name + ".hip"],
        copts = ["-std=c++17"],
        deps = ["@rocm//:" + library],
    )
    for name, library in PROGRAMS.items()
]

hip_tar(
    name = "tar",
    programs = [":" + name for name in PROGRAMS],
)
"""
SORT = """
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

int main() {
  try {
    thrust::device_vector<int> values(3);
    thrust::sort(values.begin(), values.end());
  } catch (const std::exception &error) {
    std::puts(error.what());
  }
}
"""
BLAS = """
#include <cstdio>
#include <hipblas/hipblas.h>

int main() { std::puts(hipblasStatusToString(HIPBLAS_STATUS_SUCCESS)); }
"""
COLLECTIVE = """
#include <cstdio>
#include <rccl/rccl.h>

int main() {
  int version = 0;
  const int device = 0;
  ncclComm_t communicator;
  if (ncclGetVersion(&version)) return 1;
  std::printf("RCCL %d: %s\\n", version, ncclGetErrorString(ncclCommInitAll(&communicator, 1, &device)));
}
"""
CONVOLUTION = """
#include <cstdio>
#include <miopen/miopen.h>

int main() {
  size_t major = 0, minor = 0, patch = 0;
  miopenHandle_t handle;
  if (miopenGetVersion(&major, &minor, &patch)) return 1;
  std::printf("MIOpen %zu.%zu.%zu: %s\\n", major, minor, patch, miopenGetErrorString(miopenCreate(&handle)));
}
"""
NO_GPU = "no ROCm-capable device is detected"
PROGRAMS = {
    "sort": Program(("rocthrust",), NO_GPU, SORT),
    "blas": Program(("hipblas", "rocblas"), "HIPBLAS_STATUS_SUCCESS", BLAS),
    "collective": Program(("rccl",), "unhandled cuda error", COLLECTIVE),
    "convolution": Program(("miopen", "rocblas"), NO_GPU, CONVOLUTION),
}
#: Where rocBLAS has its kernels; Debian's has them in the directory of a version.
KERNELS = re.compile(r"lib/rocblas/(?:\d+/)?library/.*?(gfx[0-9a-f]+)")
#: Copies a program with its runfiles, and runs the copy.
COPY = """
set -eu
copy=$(mktemp -d)
program=$(readlink -f "$1")
cp -rL "$program" "$program.runfiles" "$copy"
"$copy/${program##*/}"
rm -r "$copy"
"""


def check_program(workspace: Workspace, given: Sequence[str], name: str, words: str) -> None:
    """Build a program, run a copy of it, and assert that it says something."""
    result = workspace.run("run", *given, f"//libraries:{name}")
    assert result.returncode == 0, result.stdout
    assert words in result.stdout, result.stdout
    print(f"{name}: {result.stdout.splitlines()[-1]}", flush=True)


def check_kernels(workspace: Workspace, targets: Sequence[str]) -> None:
    """Make an archive of the programs; assert for which GPUs it has kernels."""
    built(workspace.build("//libraries:tar"))
    with tarfile.open(Path(workspace.info("bazel-bin"), "libraries/tar.tar")) as tar:
        kernels = [match[1] for name in tar.getnames() if (match := KERNELS.match(name))]
    found = set(kernels)
    assert found == set(targets), found
    print(f"an archive with rocBLAS: {len(kernels)} files of kernels, for {', '.join(sorted(found))}", flush=True)


def sdk_targets(workspace: Workspace) -> list[str]:
    """List the targets of @rocm: which libraries there are depends on the artifacts."""
    result = workspace.run("query", f"--repo_env=ROCM_ARTIFACTS_DIR={workspace.artifacts}", "@rocm//:all")
    assert result.returncode == 0, result.stdout
    return [line.removeprefix("@rocm//:") for line in result.stdout.splitlines() if line.startswith("@rocm//:")]


def check_sdk_libraries(workspace: Workspace, given: Sequence[str], targets: Sequence[str]) -> None:
    """Add a package of programs to the project, with the libraries that the artifacts have."""
    there = sdk_targets(workspace)
    programs = {name: one for name, one in PROGRAMS.items() if set(one.libraries) <= set(there)}
    assert "sort" in programs, there
    package = workspace.directory / "libraries"
    package.mkdir()
    libraries = {name: program.libraries[0] for name, program in programs.items()}
    (package / "BUILD.bazel").write_text(BUILD.replace("{libraries}", repr(libraries)), encoding="utf-8")
    script = workspace.directory / "copy_program.sh"
    script.write_text(COPY, encoding="utf-8")
    for name, program in programs.items():
        (package / f"{name}.hip").write_text(program.source, encoding="utf-8")
        check_program(workspace, (*given, f"--run_under=sh {script}"), name, program.words)
    if "blas" in programs:
        check_kernels(workspace, targets)
