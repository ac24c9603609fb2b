"""Installs the packages of real ROCm into a fresh environment and uses them as people do.

    python3 tests/e2e/real_rocm.py --dist DIR

Run it where Debian's ROCm finds its libc (a Debian 13 root). Each library is loaded in a
process of its own, launchers answer, and the compiler of the devel tree compiles C++ and
a HIP kernel.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
CPP = r"""
#include <cstdio>
#include <vector>
int main() { std::vector<int> v{1, 2, 3}; std::printf("%zu\n", v.size()); }
"""
HIP = """\
#include <hip/hip_runtime.h>
__global__ void add(float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += b[i];
}
"""


def run(*command: object, **variables: str) -> str:
    """Run a command and returns what it prints; its failure ends the program with all that it said."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": tempfile.gettempdir(), **variables}
    result = subprocess.run(
        [str(part) for part in command], env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode:
        sys.exit(f"{command}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def install(dist: Path, directory: Path) -> Path:
    """Make an environment with everything in it, for gfx1030 if there is a choice; returns its interpreter."""
    venv.create(directory, symlinks=True, with_pip=False)
    python = directory / "bin" / "python"
    device = list(dist.glob("rocm_sdk_device_gfx1030-*"))
    extras = "libraries,devel,profiler,device" if device else "libraries,devel,profiler"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-cache-dir", "--no-index"]
    run(*pip, f"--find-links={dist}/index.html", f"rocm[{extras}]", ROCM_SDK_TARGET_FAMILY="gfx1030" if device else "")
    return python


def is_library(path: Path) -> bool:
    """Whether a file is a shared library of the host: device code is ELF, too, but for another machine."""
    with path.open("rb") as file:
        header = file.read(20)
    return header[:4] == b"\x7fELF" and header[18:20] == b"\x3e\x00" and ".so" in path.name


def load_libraries(python: Path, site_packages: Path) -> None:
    """Load each library of core and libraries in a process of its own."""
    trees = [
        path for path in site_packages.iterdir() if path.name.startswith(("_rocm_sdk_core", "_rocm_sdk_libraries"))
    ]
    found = sorted(path for tree in trees for path in tree.rglob("*") if path.is_file() and is_library(path))
    for library in found:
        run(python, "-c", LOAD, library)
    print(f"{len(found)} of {len(found)} libraries loaded")
    assert len(found) >= 30, found


def check_launchers(tree: Path) -> None:
    """Launchers answer as the programs that they stand for."""
    for name, answer in {
        "clang++": "clang version 17",
        "clang-cpp": "clang version 17",
        "ld.lld": "LLD 17",
        "llvm-ranlib": "LLVM version 17",
    }.items():
        said = run(tree / "lib/llvm/bin" / name, "--version")
        assert answer in said, said
        print(f"{name}: {said.splitlines()[0]}")
    assert "clang version 17" in run(tree / "bin/clang++-17", "--version")


def compile_programs(devel: Path, scratch: Path) -> None:
    """Compile, with the devel tree's compiler, a C++ program that runs, and a HIP kernel for gfx1030."""
    clang = devel / "lib/llvm/bin/clang++"
    source, program, kernel, code = (scratch / name for name in ("a.cpp", "a.out", "a.hip", "a.o"))
    source.write_text(CPP)
    run(clang, source, "-o", program)
    assert run(program) == "3\n"
    (device_libraries,) = {path.parent for path in devel.rglob("ockl.bc")}
    kernel.write_text(HIP)
    hip = ["-x", "hip", "--offload-arch=gfx1030", f"--rocm-path={devel}", f"--rocm-device-lib-path={device_libraries}"]
    search = f"/usr/bin:/bin:{devel}/lib/llvm/bin:/usr/lib/llvm-17/bin"
    run(clang, *hip, f"-I{devel}/include", "-O2", "-c", kernel, "-o", code, PATH=search)
    assert b"hipv4-amdgcn-amd-amdhsa--gfx1030" in code.read_bytes()
    print("C++ program compiled and run; HIP kernel compiled for gfx1030")


def main() -> int:
    """Installs and checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions, with its index.html")
    args = parser.parse_args()
    os.environ.pop("LD_LIBRARY_PATH", None)
    with tempfile.TemporaryDirectory(prefix="rocm-real-") as name:
        scratch = Path(name)
        python = install(args.dist, scratch / "environment")
        site_packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        load_libraries(python, site_packages)
        check_launchers(site_packages / "_rocm_sdk_core")
        print(run(python.parent / "rocm-sdk", "test").splitlines()[-1])
        compile_programs(Path(run(python.parent / "rocm-sdk", "path", "--root").strip()), scratch)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
