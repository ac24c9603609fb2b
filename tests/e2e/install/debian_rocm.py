"""The ROCm of Debian or Ubuntu in one command: built with --config=debian_rocm, installed and looked at.

    python3 -m tests.e2e.install.debian_rocm

Run it from the top of the workspace, on Debian or Ubuntu with apt's network. The small set is half a gigabyte. Where
this machine's libc is older than what the packages need, libraries are only looked up, not loaded: the loader finds all
that they need before it compares versions. `tests/e2e/install/real_rocm.py` uses the same wheels where they run.
"""

import json
import re
import shutil
import tempfile
from pathlib import Path

from tests.e2e.install.real_rocm import LOAD, Installation, install
from tests.e2e.testing.builds import Workspace, built
from tests.e2e.testing.commands import attempt, run

REPOSITORY = "@debian_rocm"
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


def check_errors(workspace: Workspace) -> None:
    """Check that requests that cannot be met are refused, with what to do."""
    fetch = ("fetch", "--force", f"--repo={REPOSITORY}")
    refused = {
        "ROCM_DEBIAN_SET=tiny: there is no such set; expected one of all, small": ["--repo_env=ROCM_DEBIAN_SET=tiny"],
        "Check the network and apt's sources": [
            "--repo_env=ROCM_DEBIAN_SET=small",
            *(f"--repo_env={name}_proxy={NO_PROXY}" for name in ("http", "https")),
        ],
    }
    for message, options in refused.items():
        result = workspace.run(*fetch, "--config=debian_rocm", *options)
        assert result.returncode != 0, result.stdout
        assert message in result.stdout, result.stdout
        assert "Traceback (most recent call last):\n  File" not in result.stdout, result.stdout
        print(f"refused: {next(line for line in result.stdout.splitlines() if message in line).strip()[:150]}")


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


def check_libraries(installed: Installation) -> None:
    """Check that each library loads, in a process of its own, or would with a newer libc."""
    found, older = installed.libraries(), 0
    for library in found:
        result = attempt(installed.bin / "python", "-c", LOAD, library)
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
    workspace = Workspace()
    check_errors(workspace)
    options = ("--config=debian_rocm", "--repo_env=ROCM_DEBIAN_SET=small")
    build = built(workspace.build("//packaging:all_wheels", "//packaging:dist", options=options))
    print(f"built in {build.seconds:.0f} s")
    dist = Path(workspace.info("bazel-bin")) / "packaging/dist"
    with tempfile.TemporaryDirectory(prefix="rocm-debian-") as name:
        installed = install(dist, Path(name, "environment"), "", "libraries,devel")
        print(run(installed.bin / "rocm-sdk", "version").strip())
        check_provenance(installed.site_packages)
        check_libraries(installed)
        check_cmake(Path(run(installed.bin / "rocm-sdk", "path", "--root").strip()), Path(name) / "consumer")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
