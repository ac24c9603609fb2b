"""The ROCm of Debian or Ubuntu in one command: built with --config=debian_rocm, installed and looked at.

    python3 -m tests.e2e.install.debian_rocm [--set all] [--startup OPTION]... [--option OPTION]...

Run it from the top of the workspace, on Debian or Ubuntu with apt's network. The small set is half a gigabyte. Where
this machine's libc is older than what the packages need, libraries are only looked up, not loaded: the loader finds all
that they need before it compares versions. `tests/e2e/install/real_rocm.py` uses the same wheels where they run.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.e2e.testing.builds import Workspace, built

REPOSITORY = "@debian_rocm"
LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
#: Finds packages in the devel tree, and says so of what they import.
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(consumer CXX)
foreach(package amd_comgr AMDDeviceLibs hiprand hipfft hsa-runtime64 rocfft rocrand)
  find_package(${package} CONFIG REQUIRED PATHS ${TREE} NO_DEFAULT_PATH)
endforeach()
foreach(target amd_comgr hip::hiprand roc::rocfft ockl)
  foreach(suffix "" _RELEASE _NONE)
    get_target_property(location ${target} IMPORTED_LOCATION${suffix})
    if(location)
      message(STATUS "location: ${location}")
    endif()
  endforeach()
endforeach()
"""
#: What the loader says of libraries that are all there, on a machine with an older libc or libstdc++ than they ask for.
OLDER = re.compile(r"version `(?:GLIBC|GLIBCXX|CXXABI|GCC)_[0-9.]+' not found")
#: Nobody listens there.
NO_PROXY = "http://127.0.0.1:9"


def run(*command: object) -> str:
    """Run a command; return what it prints. Raises AssertionError with all that it said if it fails."""
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{command}: exit code {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout


def check_errors(workspace: Workspace, debian_set: str) -> None:
    """Check that requests that cannot be met are refused, with what to do."""
    fetch = ("fetch", "--force", f"--repo={REPOSITORY}")
    refused = {
        "ROCM_DEBIAN_SET=tiny: there is no such set; expected one of all, small": ["--repo_env=ROCM_DEBIAN_SET=tiny"],
        "Check the network and apt's sources": [
            f"--repo_env=ROCM_DEBIAN_SET={debian_set}",
            *(f"--repo_env={name}_proxy={NO_PROXY}" for name in ("http", "https")),
        ],
    }
    for message, options in refused.items():
        result = workspace.run(*fetch, "--config=debian_rocm", *workspace.options, *options)
        assert result.returncode != 0, result.stdout
        assert message in result.stdout, result.stdout
        assert "Traceback (most recent call last):\n  File" not in result.stdout, result.stdout
        print(f"refused: {next(line for line in result.stdout.splitlines() if message in line).strip()[:150]}")


def install(dist: Path, directory: Path) -> Path:
    """Install core, libraries and devel into a fresh environment; returns its site-packages."""
    venv.create(directory, symlinks=True, with_pip=False)
    python = directory / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--quiet", "--no-cache-dir", "--no-index", f"--find-links={dist}", "rocm[libraries,devel]")
    print(run(*pip, "check").strip())
    return Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())


def check_provenance(site_packages: Path) -> None:
    """Check that the environment says which packages it is made from, and has the licences of each."""
    core = site_packages / "_rocm_sdk_core"
    document = json.loads((core / "share/therock/debian_packages.json").read_text(encoding="utf-8"))
    versions = {one["name"]: one["version"] for one in document["packages"]}
    assert {"hipcc", "librocfft-dev", "rocminfo"} <= set(versions), versions
    installed = {path.parent.name for path in site_packages.glob("_rocm_sdk_*/share/doc/*/copyright")}
    runtime = {
        one["name"]
        for one in document["packages"]
        if any(re.search("_(lib|run)_generic$", artifact) for artifact in one["artifacts"])
    }
    assert runtime <= installed, f"without licences: {sorted(runtime - installed)}"
    print(f"{document['distribution']} {document['suite']}: {len(versions)} packages, licences of {len(runtime)}")


def is_library(path: Path) -> bool:
    """Whether a file is a shared library of x86_64 (e_machine 62), not device code."""
    with path.open("rb") as file:
        header = file.read(20)
    return header[:4] == b"\x7fELF" and header[18:20] == b"\x3e\x00" and ".so" in path.name


def check_libraries(python: Path, site_packages: Path) -> None:
    """Check that each library loads, in a process of its own, or would with a newer libc."""
    trees = [site_packages / "_rocm_sdk_core", site_packages / "_rocm_sdk_libraries"]
    found = [path for tree in trees for path in sorted(tree.rglob("*.so*")) if path.is_file() and is_library(path)]
    older = 0
    for library in found:
        result = subprocess.run([python, "-c", LOAD, library], capture_output=True, text=True, check=False)
        if result.returncode and OLDER.search(result.stderr):
            older += 1
        else:
            assert result.returncode == 0, f"{library}: {result.stderr}"
    assert len(found) >= 30, found
    print(f"{len(found) - older} of {len(found)} libraries loaded; {older} would with a newer libc")


def check_cmake(tree: Path, scratch: Path) -> None:
    """Check that CMake finds the packages of the devel tree, and they what they stand for."""
    cmake = shutil.which("cmake")
    if not (cmake and shutil.which("c++")):
        print("CMake files not checked: there is no cmake, or no C++ compiler, on PATH")
        return
    scratch.mkdir()
    (scratch / "CMakeLists.txt").write_text(CMAKE, encoding="utf-8")
    # Without the platform, HIP asks hipconfig, which may lack Perl modules here.
    options = ["-DHIP_PLATFORM=amd", f"-DTREE={tree}", f"-DCMAKE_PREFIX_PATH={tree}"]
    said = run(cmake, "-S", scratch, "-B", scratch / "build", *options)
    found = [Path(path) for path in re.findall("location: (.*)", said)]
    assert len(found) == 4, said
    for path in found:
        assert path.resolve().is_relative_to(tree.parent), path
        assert path.exists(), path
    print(f"CMake finds {', '.join(path.name for path in found)}")


def main() -> int:
    """Build, install and check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="small", choices=["small", "all"], help="how much of ROCm")
    parser.add_argument("--startup", action="append", default=[], help="a startup option of Bazel")
    parser.add_argument("--option", action="append", default=[], help="an option of every build")
    args = parser.parse_args()
    workspace = Workspace(startup=tuple(args.startup), options=tuple(args.option))
    check_errors(workspace, args.set)
    options = ("--config=debian_rocm", f"--repo_env=ROCM_DEBIAN_SET={args.set}")
    build = built(workspace.build("//packaging:all_wheels", "//packaging:dist", options=options))
    print(f"built in {build.seconds:.0f} s")
    dist = Path(workspace.info("bazel-bin")) / "packaging/dist"
    with tempfile.TemporaryDirectory(prefix="rocm-debian-") as name:
        site_packages = install(dist, Path(name))
        print(run(Path(name) / "bin/rocm-sdk", "version").strip())
        check_provenance(site_packages)
        check_libraries(Path(name) / "bin/python", site_packages)
        check_cmake(Path(run(Path(name) / "bin/rocm-sdk", "path", "--root").strip()), Path(name) / "consumer")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
