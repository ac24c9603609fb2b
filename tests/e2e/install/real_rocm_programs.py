"""Programs that the development tree's compilers make, and that run on a machine without a GPU.

compile_cpp(devel, folder)
compile_program(devel, hipcc, folder)
"""

import json
from pathlib import Path

from tests.e2e.testing.commands import run

CPP = r"""
#include <cstdio>
#include <vector>
int main() { std::vector<int> v{1, 2, 3}; std::printf("%zu\n", v.size()); }
"""
KERNEL = """
#include <hip/hip_runtime.h>
__global__ void add(float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += b[i];
}
"""
MAIN = r"""
#include <cstdio>
int main() {
  int count = 0;
  std::printf("%s\n", hipGetErrorName(hipGetDeviceCount(&count)));
}
"""


def entry_id(target: str) -> bytes:
    """Return what stands in a bundle for the code of a target."""
    return f"hipv4-amdgcn-amd-amdhsa--{target}".encode()


def compile_cpp(devel: Path, folder: Path) -> None:
    """Compile a C++ program with the tree's clang++, and run it."""
    source, program = folder / "a.cpp", folder / "a.out"
    source.write_text(CPP)
    run(devel / "lib/llvm/bin/clang++", source, "-o", program)
    assert run(program) == "3\n"
    print("C++ program compiled, and run")


def compile_kernel(devel: Path, target: str, folder: Path) -> None:
    """Compile a HIP kernel with the tree's clang++ and the machine's clang-offload-bundler, which the tree lacks."""
    source, code = folder / "a.hip", folder / "a.o"
    source.write_text(KERNEL)
    (bitcode,) = {path.parent for path in devel.rglob("ockl.bc")}
    hip = ("-x", "hip", f"--offload-arch={target}", f"--rocm-path={devel}", f"--rocm-device-lib-path={bitcode}")
    search = f"/usr/bin:/bin:{devel}/lib/llvm/bin:/usr/lib/llvm-17/bin"
    run(devel / "lib/llvm/bin/clang++", *hip, f"-I{devel}/include", "-O2", "-c", source, "-o", code, PATH=search)
    assert entry_id(target) in code.read_bytes()
    print(f"HIP kernel compiled for {target}")


def compile_program(devel: Path, hipcc: Path, target: str, folder: Path) -> None:
    """Compile a HIP program by `hipcc --offload-arch=TARGET`, with no other option, and run it.

    It finds the runtime as programs do that were linked outside of a wheel: by LD_LIBRARY_PATH. With the variables of
    `rocm-sdk env`, it does so by its RPATH.
    """
    source, program = folder / "b.hip", folder / "b.out"
    source.write_text(KERNEL + MAIN)
    variables = json.loads(run(hipcc.with_name("rocm-sdk"), "env", "--shell", "json"))
    for how, environ, found in (
        ("alone", {}, {"LD_LIBRARY_PATH": str(devel / "lib")}),
        ("with rocm-sdk env", variables, {}),
    ):
        run(hipcc, f"--offload-arch={target}", source, "-o", program, **environ)
        assert entry_id(target) in program.read_bytes()
        said = run(program, **found)
        assert said == "hipErrorNoDevice\n", said
        print(f"HIP program compiled for {target} by hipcc, {how}; it says {said.strip()}")


def compile_object(hipcc: Path, target: str, folder: Path) -> None:
    """Compile a HIP kernel to an object file by `hipcc`."""
    source, code = folder / "c.hip", folder / "c.o"
    source.write_text(KERNEL)
    run(hipcc, f"--offload-arch={target}", "-c", source, "-o", code)
    assert entry_id(target) in code.read_bytes()
    print(f"HIP kernel compiled for {target} by hipcc")
