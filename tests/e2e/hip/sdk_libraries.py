"""Programs with libraries of the SDK: a part of tests.e2e.hip.programs.

rocThrust is headers alone. hipBLAS loads rocBLAS, whose kernels come to programs and to archives for the targets of the
build alone; the small set of artifacts has neither.
"""

import tarfile
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.testing.builds import Workspace, built

BUILD = """
load("@rules_rocm_python//rules:hip.bzl", "hip_binary", "hip_tar")

hip_binary(name = "sort", srcs = ["sort.hip"], copts = ["-std=c++17"], deps = ["@rocm//:rocthrust"])
"""
BLAS = """
hip_binary(name = "blas", srcs = ["blas.hip"], deps = ["@rocm//:hipblas"])

hip_tar(name = "blas_tar", programs = [":blas"])
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
USE_BLAS = """
#include <cstdio>
#include <hipblas/hipblas.h>

int main() { std::puts(hipblasStatusToString(HIPBLAS_STATUS_SUCCESS)); }
"""
NO_GPU = "no ROCm-capable device is detected"
KERNELS = "lib/rocblas/library/"


def check_program(workspace: Workspace, given: Sequence[str], name: str, words: str) -> None:
    """Build and run a program; assert that it says something."""
    result = workspace.run("run", *given, f"//libraries:{name}")
    assert result.returncode == 0, result.stdout
    assert words in result.stdout, result.stdout
    print(f"{name}: {result.stdout.splitlines()[-1]}", flush=True)


def check_kernels(workspace: Workspace, targets: Sequence[str]) -> None:
    """Make an archive of the program with hipBLAS; assert for which GPUs it has kernels."""
    built(workspace.build("//libraries:blas_tar"))
    with tarfile.open(Path(workspace.info("bazel-bin"), "libraries/blas_tar.tar")) as tar:
        names = [name.removeprefix(KERNELS) for name in tar.getnames() if name.startswith(KERNELS)]
    found = {part for name in names for part in name.replace(".", "_").split("_") if part.startswith("gfx")}
    assert found == set(targets), found
    print(f"an archive with rocBLAS: {len(names)} files of kernels, for {', '.join(sorted(found))}", flush=True)


def check_sdk_libraries(workspace: Workspace, given: Sequence[str], targets: Sequence[str]) -> None:
    """Add a package of programs to the project, with the libraries that the artifacts have."""
    has_blas = bool(list(workspace.artifacts.glob("*/*/hipblas"))) if workspace.artifacts else False
    package = workspace.directory / "libraries"
    package.mkdir()
    (package / "BUILD.bazel").write_text(BUILD + (BLAS if has_blas else ""), encoding="utf-8")
    (package / "sort.hip").write_text(SORT, encoding="utf-8")
    (package / "blas.hip").write_text(USE_BLAS, encoding="utf-8")
    check_program(workspace, given, "sort", NO_GPU)
    if has_blas:
        check_program(workspace, given, "blas", "HIPBLAS_STATUS_SUCCESS")
        check_kernels(workspace, targets)
