"""Tests libraries of an SDK that open other libraries when they run: a part of hip.tests.e2e.programs.

hipRTC opens the library that compiles (libamd_comgr), which no DT_NEEDED leads to. A program of C++ that depends on
hipRTC alone compiles a kernel, for which the machine needs no GPU. A program that is copied with its runfiles loads
rocBLAS from there, with the kernels for its targets beside it, where rocBLAS looks for them.
"""

from collections.abc import Sequence
from pathlib import Path

from hip.tests.e2e.sdk_libraries import sdk_libraries
from tests.e2e.testing.builds import Workspace

BUILD = """
cc_binary(
    name = "compile",
    srcs = ["compile.cc"],
    deps = ["@rocm//:hiprtc"],
)

cc_binary(
    name = "blas",
    srcs = ["blas.cc"],
    deps = ["@rocm//:rocblas"],
)
"""
SOURCE = """
#include <hip/hiprtc.h>
#include <cstdio>
#include <string>

int main(int, char **words) {
  hiprtcProgram program;
  const char *text = "extern \\"C\\" __global__ void square(float *x) { x[threadIdx.x] *= x[threadIdx.x]; }";
  const std::string target = std::string("--offload-arch=") + words[1];
  const char *options[] = {target.c_str()};
  if (hiprtcCreateProgram(&program, text, "square.hip", 0, nullptr, nullptr)) return 1;
  if (hiprtcCompileProgram(program, 1, options)) return 2;
  size_t size = 0;
  if (hiprtcGetCodeSize(program, &size)) return 3;
  std::string code(size, 0);
  if (hiprtcGetCode(program, &code[0])) return 4;
  std::printf("code object: %s, square: %d\\n", code.substr(1, 3).c_str(), code.find("square.kd") != code.npos);
}
"""
BLAS = """
#include <dlfcn.h>
#include <rocblas/rocblas.h>
#include <cstdio>

int main() {
  size_t size;
  Dl_info library;
  if (rocblas_get_version_string_size(&size)) return 1;
  return dladdr(dlsym(RTLD_DEFAULT, "rocblas_create_handle"), &library) ? std::puts(library.dli_fname) < 0 : 2;
}
"""
#: Copies a program with its runfiles, runs it, and lists what is beside the library that it loads.
COPY = """
set -eu
copy=$(mktemp -d)
program=$(readlink -f "$1")
cp -rL "$program" "$program.runfiles" "$copy"
library=$("$copy/blas")
case "$library" in "$copy"/*) ;; *) echo "loaded: $library"; exit 1 ;; esac
find "$(dirname "$library")/rocblas" -name "*$2*" | head -1
rm -r "$copy"
"""


def check_opened(workspace: Workspace, given: Sequence[str], target: str) -> None:
    """Add a package with the program to the project, and run it with the options `given`."""
    package = workspace.directory / "opened"
    package.mkdir()
    (package / "BUILD.bazel").write_text(BUILD, encoding="utf-8")
    (package / "compile.cc").write_text(SOURCE, encoding="utf-8")
    result = workspace.run("run", *given, "//opened:compile", "--", target)
    assert result.returncode == 0, result.stdout
    assert "code object: ELF, square: 1" in result.stdout, result.stdout
    print(f"hipRTC compiles a kernel for {target}", flush=True)
    if "rocblas" not in sdk_libraries(workspace):
        print("rocBLAS is not among these artifacts: not tried", flush=True)
        return
    (package / "blas.cc").write_text(BLAS, encoding="utf-8")
    script = workspace.directory / "copy.sh"
    script.write_text(COPY, encoding="utf-8")
    options = (*given, f"--@rocm//:targets={target}", f"--run_under=sh {script}")
    result = workspace.run("run", *options, "//opened:blas", "--", target)
    assert result.returncode == 0, result.stdout
    assert target in Path(result.stdout.splitlines()[-1]).name, result.stdout
    print(f"a copied program has rocBLAS with its kernels: {result.stdout.splitlines()[-1]}", flush=True)
