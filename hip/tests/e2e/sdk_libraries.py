"""Programs with libraries of the SDK: a part of hip.tests.e2e.programs.

There is one for each library that the SDK has, so each has to load. Each program runs as a copy with its runfiles, in
another directory: what its library reads and opens came along. What needs a GPU fails with words that say so. rocBLAS,
which hipBLAS loads, has kernels in archives for the targets of the build alone. A part of a program like ggml has
several sources with hipBLAS's headers.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.testing.builds import Workspace

NO_GPU = "no ROCm-capable device is detected"


@dataclass(frozen=True)
class Program:
    """A program with a library of the SDK."""

    library: str
    source: str
    #: What it prints on a machine without a GPU.
    words: str = NO_GPU
    #: Further sources.
    sources: tuple[str, ...] = ()


BUILD = """
load("@rules_rocm_python//hip:defs.bzl", "hip_binary")

[
    hip_binary(
        name = name,
        srcs = [name + ".hip"] + sources,
        copts = ["-std=c++17"],
        deps = ["@rocm//:" + library],
    )
    for name, (library, sources) in {programs}.items()
]
"""
#: Library -> a header of it, and a function. What only has headers has none.
LIBRARIES = {
    "amd_comgr": ("amd_comgr/amd_comgr.h", "amd_comgr_get_version"),
    "amd_smi": ("amd_smi/amdsmi.h", "amdsmi_init"),
    "hipblas": ("hipblas/hipblas.h", "hipblasCreate"),
    "hipblaslt": ("hipblaslt/hipblaslt.h", "hipblasLtCreate"),
    "hipcub": ("hipcub/hipcub.hpp", "hipInit"),
    "hipfft": ("hipfft/hipfft.h", "hipfftGetVersion"),
    "hiprand": ("hiprand/hiprand.h", "hiprandGetVersion"),
    "hiprtc": ("hip/hiprtc.h", "hiprtcVersion"),
    "hipsolver": ("hipsolver/hipsolver.h", "hipsolverCreate"),
    "hipsparse": ("hipsparse/hipsparse.h", "hipsparseCreate"),
    "hipsparselt": ("hipsparselt/hipsparselt.h", "hipsparseLtInit"),
    "hsa-runtime64": ("hsa/hsa.h", "hsa_init"),
    "miopen": ("miopen/miopen.h", "miopenGetVersion"),
    "rccl": ("rccl/rccl.h", "ncclGetVersion"),
    "rocalution": ("rocalution/rocalution.hpp", "rocalution::stop_rocalution"),
    "rocblas": ("rocblas/rocblas.h", "rocblas_get_version_string"),
    "rocfft": ("rocfft/rocfft.h", "rocfft_get_version_string"),
    "rocm_smi64": ("rocm_smi/rocm_smi.h", "rsmi_init"),
    "rocprim": ("rocprim/rocprim.hpp", "hipInit"),
    "rocrand": ("rocrand/rocrand.h", "rocrand_get_version"),
    "rocsolver": ("rocsolver/rocsolver.h", "rocsolver_get_version_string"),
    "rocsparse": ("rocsparse/rocsparse.h", "rocsparse_create_handle"),
}
#: Library -> another that it cannot be used without, by its headers or its NEEDED: a part of an SDK may lack that.
NEEDED = {"hipsparselt": "hipsparse", "miopen": "rocblas"}
#: Libraries of the SDK that programs do not name alone: parts and aliases, the compiler's, and headers.
OTHERS = re.compile(
    r"amd_smi_.*|amdhip64|clang.*|hip|hip[-_].*|hipblas-common|hipfftw|LLVM.*|rocm-core|rocm_smi|rocm_smi_.*|rocprim_.*"
    r"|rocthrust.*|roctx.*"
)
LOADED = """
#include <cstdio>
#include <hip/hip_runtime.h>
#include <{header}>

int main() {{
  void *volatile function = reinterpret_cast<void *>(&{function});
  std::puts(function ? hipGetErrorString(hipInit(0)) : "");
}}
"""
#: An operation of a backend, in a source of its own.
OPERATION = """
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>

__global__ void scale{number}(half *x, float a) {{ x[threadIdx.x] = __float2half(a * {number}); }}

int operation{number}(hipblasHandle_t handle, float *x, half *y) {{
  const float one = 1;
  scale{number}<<<1, 1>>>(y, one);
  return hipblasSgemm(handle, HIPBLAS_OP_T, HIPBLAS_OP_N, 1, 1, 1, &one, x, 1, x, 1, &one, x, 1);
}}
"""
BACKEND = """
#include <cstdio>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>

{declarations}
int main() {{
  if (hipError_t error = hipInit(0)) {{ return std::puts(hipGetErrorString(error)) < 0; }}
  return {calls};
}}
"""
OPERATIONS = range(4)
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
PROGRAMS = {
    name.replace("-", "_"): Program(name, LOADED.format(header=header, function=function))
    for name, (header, function) in LIBRARIES.items()
} | {
    "sort": Program("rocthrust", SORT),
    "collective": Program("rccl", COLLECTIVE, "unhandled cuda error"),
    "convolution": Program("miopen", CONVOLUTION),
    "backend": Program(
        "hipblas",
        BACKEND.format(
            declarations="".join(f"int operation{one}(hipblasHandle_t, float *, half *);\n" for one in OPERATIONS),
            calls=" + ".join(f"operation{one}(nullptr, nullptr, nullptr)" for one in OPERATIONS),
        ),
        sources=tuple(OPERATION.format(number=one) for one in OPERATIONS),
    ),
}
#: Where rocBLAS has its kernels; Debian's has them in the directory of a version.
KERNELS = re.compile(r"/lib/rocblas/(?:\d[\d.]*/)?library/.*?(gfx[0-9a-f]+)")
#: Unpacks a program with its runfiles elsewhere, as the page says, and runs the copy.
COPY = """
set -eu
copy=$(mktemp -d)
program=$(readlink -f "$1")
name=${program##*/}
tar --create --dereference --directory="${program%/*}" "$name" "$name.runfiles" | tar --extract --directory="$copy"
"$copy/$name"
rm -r "$copy"
"""


def check_program(workspace: Workspace, given: Sequence[str], name: str, words: str) -> None:
    """Build a program, run a copy of it, and assert that it says something."""
    result = workspace.run("run", *given, f"//libraries:{name}")
    assert result.returncode == 0, result.stdout
    assert words in result.stdout, result.stdout
    print(f"{name}: {result.stdout.splitlines()[-1]}", flush=True)


def check_kernels(workspace: Workspace, targets: Sequence[str]) -> None:
    """Assert for which GPUs the runfiles of a program have kernels."""
    runfiles = Path(workspace.info("bazel-bin"), "libraries/hipblas.runfiles")
    kernels = [match[1] for path in runfiles.rglob("*") if (match := KERNELS.search(str(path)))]
    found = set(kernels)
    assert found == set(targets), found
    print(f"runfiles with rocBLAS: {len(kernels)} files of kernels, for {', '.join(sorted(found))}", flush=True)


def sdk_libraries(workspace: Workspace) -> list[str]:
    """List the libraries of @rocm: which there are depends on the artifacts."""
    artifacts = (f"--repo_env=ROCM_ARTIFACTS_DIR={workspace.artifacts}",) if workspace.artifacts else ()
    result = workspace.run("query", *artifacts, "kind(rocm_library, @rocm//:all)")
    assert result.returncode == 0, result.stdout
    return [line.removeprefix("@rocm//:") for line in result.stdout.splitlines() if line.startswith("@rocm//:")]


def check_sdk_libraries(workspace: Workspace, given: Sequence[str], targets: Sequence[str]) -> None:
    """Add a package of programs to the project, with the libraries that the artifacts have."""
    there = sdk_libraries(workspace)
    unknown = [one for one in there if one not in LIBRARIES and not OTHERS.fullmatch(one)]
    assert not unknown, f"no program has {unknown}; add them to LIBRARIES"
    usable = {one for one in there if NEEDED.get(one, one) in there}
    programs = {name: one for name, one in PROGRAMS.items() if one.library in usable}
    assert "sort" in programs, there
    package = workspace.directory / "libraries"
    package.mkdir()
    declared: dict[str, tuple[str, list[str]]] = {}
    for name, program in programs.items():
        sources = {f"{name}_{number}.hip": text for number, text in enumerate(program.sources)}
        declared[name] = (program.library, list(sources))
        for file, text in (sources | {f"{name}.hip": program.source}).items():
            (package / file).write_text(text, encoding="utf-8")
    (package / "BUILD.bazel").write_text(BUILD.replace("{programs}", repr(declared)), encoding="utf-8")
    script = workspace.directory / "copy_program.sh"
    script.write_text(COPY, encoding="utf-8")
    for name, program in programs.items():
        check_program(workspace, (*given, f"--run_under=sh {script}"), name, program.words)
    if "hipblas" in programs:
        check_kernels(workspace, targets)
    print(f"{len(programs)} programs, with {len({one.library for one in programs.values()})} libraries", flush=True)
