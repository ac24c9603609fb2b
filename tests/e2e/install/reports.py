"""Does with our packages what users of AMD's packages reported not to work.

    python3 -B -m tests.e2e.install.reports --dist DIR

Run it from the top of the workspace in a root of Debian unstable (tests/e2e/roots), with packages of ROCm 7 for several
GPU targets. Each report is a function, named after it: `TheRock #1011` is github.com/ROCm/TheRock/issues/1011.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.install.real_rocm import Installation, install
from tests.e2e.testing.commands import attempt, run

TARGET, OTHER_TARGET = "gfx90a", "gfx1100"
#: A target that even the smaller libraries of ROCm have a package for.
PACKAGED_TARGET = "gfx942"
#: Prints which files of that name a process has mapped once it has loaded all that it was told.
MAPPED = """
import ctypes, os, sys
name, *paths = sys.argv[1:]
for path in paths:
    ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_GLOBAL)
maps = {line.split()[-1] for line in open("/proc/self/maps") if name in line}
print("\\n".join(sorted(os.path.realpath(path) for path in maps)))
"""


@dataclass(frozen=True)
class Report:
    """What users reported, and what shows that it is not so here."""

    number: str
    title: str
    show: Callable[["Case"], None]


REPORTS: list[Report] = []


Show = Callable[["Case"], None]


def report(number: str, title: str) -> Callable[[Show], Show]:
    """Add a function to the reports; several may have one."""

    def add(show: Show) -> Show:
        REPORTS.append(Report(number, title, show))
        return show

    return add


@dataclass(frozen=True)
class Case:
    """An environment that is used for one report after the other."""

    installed: Installation
    scratch: Path
    dist: Path

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.installed.bin / "python"

    @property
    def core(self) -> Path:
        """The tree of the core package."""
        return self.installed.site_packages / "_rocm_sdk_core"

    @property
    def devel(self) -> Path:
        """Where the development tree is, or will be."""
        return self.installed.site_packages / "_rocm_sdk_devel"

    def pip(self, *arguments: str) -> None:
        """Call pip for the environment."""
        run(sys.executable, "-m", "pip", "--python", self.python, *arguments)

    def mapped(self, name: str, *paths: Path, **variables: str) -> list[str]:
        """Return which files with `name` in their paths a process has, that loaded these libraries."""
        return run(self.python, "-c", MAPPED, name, *paths, **variables).split()


@report("PyTorch #191834", "the development tree is found by its module, as soon as it is installed")
def _(case: Case) -> None:
    code = "import importlib.util; print(importlib.util.find_spec('_rocm_sdk_devel').origin)"
    origin = Path(run(case.python, "-c", code).strip()).parent
    assert next(origin.glob("include/**/*.h"), None), origin  # Links to what core has are made on first use.


@report("TheRock #1906", "`rocm-sdk path --root` answers the first time")
def _(case: Case) -> None:
    said = run(case.installed.bin / "rocm-sdk", "path", "--root").strip()
    assert said == str(case.devel), said
    assert (case.devel / "bin/hipcc").is_file()


@report("TheRock #1011", "libraries of another ROCm in LD_LIBRARY_PATH are not taken")
def _(case: Case) -> None:
    other = case.scratch / "opt/rocm/lib"
    other.mkdir(parents=True)
    for name in ("libamdhip64.so.7", "libhsa-runtime64.so.1", "libamd_comgr.so.3"):
        (other / name).write_bytes((case.core / "lib/libroctx64.so.4").read_bytes())
    library = case.installed.site_packages / "_rocm_sdk_libraries/lib/librocrand.so.1"
    mapped = case.mapped(".so", library, LD_LIBRARY_PATH=str(other))
    assert str(case.core / "lib/libamdhip64.so.7") in mapped, mapped
    assert not [path for path in mapped if path.startswith(str(other))], mapped


@report("TheRock #1079", "`rocm-sdk test` notices packages for another GPU than the machine's")
@report("TheRock #2249", "`rocm-sdk test` does not pass where no kernel can run")
def _(case: Case) -> None:
    said = attempt(case.installed.bin / "rocm-sdk", "test", "-k", "target", ROCM_BOOTSTRAP_FORCE_GFX_ARCH=OTHER_TARGET)
    assert said.returncode, said.stdout
    assert OTHER_TARGET in said.stdout + said.stderr, said
    assert not attempt(case.installed.bin / "rocm-sdk", "test", "-k", "target").returncode


@report("TheRock #2603", "programs open libraries of the profiler by their unversioned names")
@report("TheRock #5562", "RCCL opens libhsa-runtime64.so without the devel package")
@report("TheRock #7010", "PyTorch opens libamd_smi.so without the devel package")
@report("TheRock #7085", "the HSA runtime opens libhsa-amd-aqlprofile64.so without the devel package")
def _(case: Case) -> None:
    names = ("hsa-amd-aqlprofile64", "hsa-runtime64", "rocm_smi64", "rocprofiler-register", "roctx64", "amdhip64")
    for name in names:
        library = case.core / f"lib/lib{name}.so"
        real = [path for path in case.mapped(f"lib{name}", library) if path != str(library)]
        assert len(real) == 1, (library, real)
        assert re.fullmatch(rf"{case.core}/lib/lib{name}\.so\.\d+", real[0]), real


@report("TheRock #2191", "`-lhsa-runtime64` finds the library")
def _(case: Case) -> None:
    source = case.scratch / "link.c"
    source.write_text("int hsa_init(void); int main(void) { return hsa_init() == 0; }")
    for linker in ("bfd", "lld"):
        program = case.scratch / f"linked-by-{linker}"
        search = ("-L", case.devel / "lib", f"-Wl,-rpath,{case.devel / 'lib'}")
        compiler = case.devel / "lib/llvm/bin/clang"
        run(compiler, f"-fuse-ld={linker}", source, *search, "-lhsa-runtime64", "-o", program)
        assert attempt(program).returncode in (0, 1)


@report("TheRock #5726", "the compilers of the development tree's `bin` are as in other packages of ROCm")
@report("TheRock #7141", "the compilers of the development tree's `bin` find what lies beside them")
def _(case: Case) -> None:
    named = re.compile(r"(amd)?(clang|clang\+\+|clang-cpp|flang|lld|ld\.lld)(-\d+)?")
    found = [path for place in ("bin", "lib/llvm/bin") for path in sorted((case.devel / place).iterdir())]
    compilers = [path for path in found if named.fullmatch(path.name)]
    assert len(compilers) >= 8, compilers
    for compiler in compilers:
        flavor = ("-flavor", "gnu") if re.fullmatch(r"lld(-\d+)?", compiler.name) else ()
        assert run(compiler, *flavor, "--version"), compiler


@report("TheRock #1880", "`hipconfig --rocmpath` is the development tree where that is installed")
def _(case: Case) -> None:
    said = run(case.installed.bin / "hipconfig", "--rocmpath").strip()
    assert Path(said) == case.devel, said


@report("TheRock #1830", "`rocm-sdk env` says all that CMake needs")
def _(case: Case) -> None:
    folder = case.scratch / "cmake"
    folder.mkdir()
    words = ("cmake_minimum_required(VERSION 3.25)", "project(a CXX HIP)", "find_package(hip)", "message(${hip_DIR})")
    (folder / "CMakeLists.txt").write_text("\n".join(words))
    script = f"""eval "$("$1" env)" && cmake -S "$2" -B "$2/build" -DCMAKE_HIP_ARCHITECTURES={TARGET} \\
      -DCMAKE_CXX_COMPILER="$ROCM_PATH/lib/llvm/bin/clang++" """
    said = attempt("bash", "-c", script, "-", case.installed.bin / "rocm-sdk", folder)
    assert not said.returncode, said.stdout + said.stderr
    assert str(case.devel / "lib/cmake/hip") in said.stderr, said


#: Sorts and sums; without a GPU both say so.
THRUST = r"""
#include <cstdio>
#include <hipcub/hipcub.hpp>
#include <thrust/complex.h>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
int main() {
  size_t bytes = 0;
  float *in = nullptr;
  std::printf("%s\n", hipGetErrorName(hipcub::DeviceReduce::Sum(nullptr, bytes, in, in, 8)));
  try {
    thrust::device_vector<int> v(8, 1);
    thrust::sort(v.begin(), v.end());
  } catch (const std::exception &error) {
    std::printf("%s\n", error.what());
  }
}
"""
THRUST_PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(a CXX)
find_package(rocthrust REQUIRED CONFIG)
find_package(hipcub REQUIRED CONFIG)
add_executable(a main.cpp)
target_link_libraries(a PRIVATE roc::rocthrust hip::hipcub hip::device)
"""


@report("TheRock #1239", "the devel package has the headers of hipCUB, rocPRIM and rocThrust")
@report("TheRock #1894", "extensions that include thrust/complex.h compile")
def _(case: Case) -> None:
    folder = case.scratch / "thrust"
    folder.mkdir()
    (folder / "main.cpp").write_text(THRUST)
    (folder / "CMakeLists.txt").write_text(THRUST_PROJECT)
    compiler, targets = f"-DCMAKE_CXX_COMPILER={case.devel}/lib/llvm/bin/clang++", f"-DGPU_TARGETS={TARGET}"
    run("cmake", "-S", folder, "-B", folder / "build", compiler, f"-DCMAKE_PREFIX_PATH={case.devel}", targets)
    run("cmake", "--build", folder / "build")
    said = run(folder / "build/a")
    assert said.count("hipErrorNoDevice") == 2, said


@report("TheRock #7818", "a library is one in a process that has it by both its paths, in every image")
def _(case: Case) -> None:
    """As hard links between layers of an image become copies, the report's process had two of LLVM."""
    for name in ("libamd_comgr.so.3", "libLLVM.so.22.1", "libamdhip64.so.7"):
        mapped = case.mapped(name, case.core / "lib" / name, case.devel / "lib" / name)
        real = [path for path in mapped if Path(path).stat().st_size > 1 << 16]
        assert real == [str(case.core / "lib" / name)], mapped


@report("TheRock #5778", "what is installed for a GPU later, the development tree has without a further command")
def _(case: Case) -> None:
    """And no longer, once it is removed."""
    package, there = f"rocm-sdk-device-{PACKAGED_TARGET}", []
    for command in (("uninstall", "--yes"), ("install", "--no-index", f"--find-links={case.dist}/index.html")) * 2:
        case.pip(*command, "--quiet", package)
        run(case.installed.bin / "hipconfig", "--version")
        there.append(len(list((case.devel / "lib").rglob(f"*{PACKAGED_TARGET}*"))))
    assert there[0] == there[2] == 0, there
    assert there[1] == there[3] > 0, there


def main() -> int:
    """Install, and go through the reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions, with its index.html")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-reports-") as name:
        scratch = Path(name)
        case = Case(install(args.dist, scratch / "environment", TARGET), scratch, args.dist)
        for show in dict.fromkeys(one.show for one in REPORTS):
            show(case)
            for one in REPORTS:
                if one.show is show:
                    print(f"{one.number}: {one.title}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
