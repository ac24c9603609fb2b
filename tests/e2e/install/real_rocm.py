"""Installs the packages of real ROCm into a fresh environment and uses them as people do.

    python3 -B -m tests.e2e.install.real_rocm --rocm 5|7 --dist DIR [--target gfx90a]

Run it from the top of the workspace, where Debian's ROCm finds its libc: ROCm 5.7 in a Debian 13 root, ROCm 7 in one of
unstable (debian_root.sh makes both). It shows that

- each library of core and libraries loads (RTLD_NOW) in a process of its own, without LD_LIBRARY_PATH;
- launchers answer as the programs that they stand for;
- `rocm-sdk test` finds nothing wrong;
- the compiler of the development tree compiles a C++ program that runs; and a HIP program that starts and says that
  there is no GPU. ROCm 5.7's input has no clang-offload-bundler: of that, a HIP kernel is compiled;

A failure that the input explains is printed with its cause, see `ABSENT`; any other ends the program.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.install.real_rocm_programs import compile_cpp, compile_kernel, compile_program
from tests.e2e.testing import commands
from tests.e2e.testing.commands import attempt, make_environment, run, site_packages

LOAD = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_LOCAL)"
MISSING = re.compile(r"(\S+\.so[.\d]*): cannot open shared object file")
#: Libraries that an input lacks, by SONAME, and why. What needs them cannot load; no package may have them.
ABSENT: Mapping[str, str] = {"librocblas.so.5": "SMALL leaves rocBLAS out, which MIOpen needs"}
#: The version of ROCm -> the version of LLVM.
LLVM = {5: 17, 7: 22}
TREES = ("_rocm_sdk_core", "_rocm_sdk_libraries")


@dataclass(frozen=True)
class Installation:
    """An environment with the packages in it."""

    bin: Path
    site_packages: Path

    def libraries(self) -> list[Path]:
        """List the shared libraries of core and libraries."""
        trees = [path for path in self.site_packages.iterdir() if path.name.startswith(TREES)]
        return sorted(path for tree in trees for path in tree.rglob("*") if path.is_file() and is_library(path))


def is_library(path: Path) -> bool:
    """Whether a file is a shared library of the host: device code is ELF, too, for another machine."""
    with path.open("rb") as file:
        header = file.read(20)
    return header[:4] == b"\x7fELF" and header[18:20] == b"\x3e\x00" and ".so" in path.name


def install(dist: Path, directory: Path, target: str, extras: str | None = None) -> Installation:
    """Make an environment with these extras, or with everything, for the target if packages are for one each."""
    python = make_environment(directory)
    device = any(dist.glob("rocm_sdk_device_*.whl"))
    per_target = any(dist.glob(f"rocm_sdk_*_{target}-*.whl"))
    if extras is None:
        extras = f"libraries,devel,profiler{',device' if device else ''}"
    wanted = f"rocm[{extras}]" if extras else "rocm"
    chosen = target if per_target else ""
    commands.install(python, f"--find-links={dist}/index.html", wanted, ROCM_SDK_TARGET_FAMILY=chosen)
    print(f"installed {wanted}{f' for {chosen}' if chosen else ''}")
    return Installation(directory / "bin", site_packages(python))


def cause(complaint: str, packaged: Iterable[Path]) -> str:
    """Say what of the input explains that a library does not load; nothing if nothing does."""
    found = MISSING.search(complaint)
    absent = found is not None and found[1] in ABSENT and not any(path.name == found[1] for path in packaged)
    return ABSENT[found[1]] if found and absent else ""


def check_all(kind: str, complaints: Mapping[str, str], packaged: Sequence[Path]) -> None:
    """Print failures that the input explains. Ends the program if there are others."""
    unexplained = []
    for name, complaint in complaints.items():
        if reason := cause(complaint, packaged):
            print(f"{kind}: {name}: fails as it must: {reason}")
        else:
            unexplained.append(f"{kind}: {name}: {complaint}")
    if unexplained:
        sys.exit("\n".join(unexplained))


def load_libraries(installed: Installation) -> None:
    """Load each library of core and libraries in a process of its own."""
    libraries, complaints = installed.libraries(), {}
    assert len(libraries) >= 30, libraries
    for library in libraries:
        result = attempt(installed.bin / "python", "-c", LOAD, library)
        if result.returncode:
            complaints[library.name] = result.stderr
    check_all("load", complaints, libraries)
    print(f"{len(libraries) - len(complaints)} of {len(libraries)} libraries loaded")


def check_launchers(tree: Path, llvm: int) -> None:
    """Launchers answer as the programs that they stand for."""
    for name, answer in {
        "lib/llvm/bin/clang++": f"clang version {llvm}",
        "lib/llvm/bin/clang-cpp": f"clang version {llvm}",
        "lib/llvm/bin/ld.lld": f"LLD {llvm}",
        "lib/llvm/bin/llvm-ranlib": f"LLVM version {llvm}",
        f"bin/clang++-{llvm}": f"clang version {llvm}",
    }.items():
        said = run(tree / name, "--version")
        assert answer in said, said
        print(f"{name}: {said.splitlines()[0]}")


def check_installation(installed: Installation) -> None:
    """Run `rocm-sdk test`, which also makes the development tree."""
    result = attempt(installed.bin / "rocm-sdk", "test", "--json")
    try:
        document = json.loads(result.stdout)
    except ValueError:
        sys.exit(f"rocm-sdk test --json: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    failed = {one["name"]: one["detail"] for one in document["results"] if one["outcome"] == "failed"}
    check_all("rocm-sdk test", failed, installed.libraries())
    if result.returncode and not failed:
        sys.exit(f"rocm-sdk test: exit code {result.returncode}, and nothing failed\n{result.stderr}")
    print("rocm-sdk test:", ", ".join(f"{count} {outcome}" for outcome, count in document["summary"].items()))


def main() -> int:
    """Installs and checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rocm", type=int, choices=sorted(LLVM), required=True, help="which ROCm it is")
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions, with its index.html")
    parser.add_argument("--target", default="gfx90a", help="of packages that are for one target each (%(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-real-") as name:
        scratch = Path(name)
        installed = install(args.dist, scratch / "environment", args.target)
        load_libraries(installed)
        check_launchers(installed.site_packages / "_rocm_sdk_core", LLVM[args.rocm])
        check_installation(installed)
        devel = Path(run(installed.bin / "rocm-sdk", "path", "--root").strip())
        compile_cpp(devel, scratch)
        if args.rocm >= 7:
            compile_program(devel, installed.bin / "hipcc", args.target, scratch)
        else:
            compile_kernel(devel, args.target, scratch)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
