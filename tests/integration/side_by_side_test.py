"""Two versions in one directory, each with a version suffix of its own, and in two directories of one `sys.path`.

Distributions and public import packages have the same names in every version. So of them, and of console scripts, there
is one version in a directory; of the trees, and of all that lies in them, there are both.
"""

import os
from pathlib import Path

import pytest
from environment import Environment, is_forwarder

NEXT = Path(os.environ["NEXT"]).absolute()
#: The version suffix, by version.
SUFFIXES = {"7.10.0": "7_10", "7.11.0": "7_11"}
TREES = ("_rocm_sdk_core", "_rocm_sdk_libraries", "_rocm_profiler")
#: Loads a library; prints the files below a directory that the process has mapped then.
LOAD = """
import ctypes, sys
library, below = sys.argv[1:]
ctypes.CDLL(library)
paths = {line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps")}
print("\\n".join(sorted(path for path in paths if path.startswith(below))))
"""
#: Calls a library of each version, in a namespace of the loader each if the last argument is `apart`; prints what they
#: answer and which copies of a library that both need are mapped.
CALL = """
import ctypes, os, sys
*libraries, needed, how = sys.argv[1:]
open_in_namespace = ctypes.CDLL(None).dlmopen
open_in_namespace.restype, open_in_namespace.argtypes = ctypes.c_void_p, [ctypes.c_long, ctypes.c_char_p, ctypes.c_int]
NEW_NAMESPACE = -1
for library in libraries:
    handle = None
    if how == "apart":
        handle = open_in_namespace(NEW_NAMESPACE, os.fsencode(library), os.RTLD_NOW)
        assert handle, library
    print(ctypes.CDLL(library, handle=handle).hipblas_chain())
paths = {line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps")}
print(len([path for path in paths if path.endswith(needed)]))
"""
WHERE = """
import sys
sys.path[:0] = sys.argv[1:]
import rocm_sdk
print(rocm_sdk.__version__)
for path in rocm_sdk.find_libraries("amdhip64", "hipblas"):
    print(path)
"""
TREES_OF_SCRIPTS = """
import rocm_profiler._cli, rocm_sdk_core._cli
print(rocm_sdk_core._cli.tree())
print(rocm_profiler._cli.trees()[0])
"""


def libraries(site_packages: Path, suffix: str) -> list[Path]:
    trees = [site_packages / f"{tree}_{suffix}" for tree in TREES]
    files = [path for tree in trees for path in sorted(tree.rglob("*.so*")) if path.is_file()]
    return [path for path in files if not is_forwarder(path)]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install one version, and put the wheels of the next into the same directory, as layers of an image are merged."""
    environment = Environment(tmp_path_factory.mktemp("environment"))
    environment.install("rocm[libraries,devel,device,profiler]")
    wheels = sorted(map(str, NEXT.glob("*.whl")))
    environment.pip("install", "--no-deps", "--no-index", f"--target={environment.site_packages}", *wheels)
    return environment


@pytest.mark.parametrize("version", SUFFIXES)
def test_every_library_loads_and_brings_those_of_its_own_version(both: Environment, version: str) -> None:
    found = libraries(both.site_packages, SUFFIXES[version])
    assert len(found) >= 9
    for library in found:
        mapped = both.python_prints(LOAD, library, both.site_packages / "_rocm").splitlines()
        assert str(library) in mapped
        trees = {Path(path).relative_to(both.site_packages).parts[0] for path in mapped}
        assert all(tree.endswith(f"_{SUFFIXES[version]}") for tree in trees), f"{library} brings {mapped}"


def test_one_process_uses_both_in_namespaces_of_the_loader(both: Environment) -> None:
    paths = [both.site_packages / f"_rocm_sdk_libraries_{suffix}/lib/libhipblas.so.3" for suffix in SUFFIXES.values()]
    assert both.python_prints(CALL, *paths, "librocblas.so.5", "apart").split() == ["5", "5", "2"]


def test_one_namespace_has_one_library_of_a_soname(both: Environment) -> None:
    """The limit in docs/rocm/versions.md: the second version's library gets what the first one's has brought."""
    paths = [both.site_packages / f"_rocm_sdk_libraries_{suffix}/lib/libhipblas.so.3" for suffix in SUFFIXES.values()]
    assert both.python_prints(CALL, *paths, "librocblas.so.5", "together").split() == ["5", "5", "1"]


def test_what_is_installed_works_as_if_alone(both: Environment) -> None:
    assert both.run("rocm-sdk", "version").strip() == "7.10.0"
    assert ", 0 failed, 0 skipped" in both.run("rocm-sdk", "test").splitlines()[-1]
    version, *paths = both.python_prints(WHERE).splitlines()
    assert version == "7.10.0"
    assert {Path(path).relative_to(both.site_packages).parts[0] for path in paths} == {
        "_rocm_sdk_core_7_10",
        "_rocm_sdk_libraries_7_10",
    }


def test_the_development_tree_is_of_that_version(both: Environment) -> None:
    root = Path(both.run("rocm-sdk", "path", "--root").strip())
    assert root == both.site_packages / "_rocm_sdk_devel_7_10"
    installed = both.site_packages / "_rocm_sdk_libraries_7_10/lib/librocblas.so.5"
    assert (root / "lib/librocblas.so.5").stat().st_ino == installed.stat().st_ino


def test_console_scripts_run_tools_of_that_version(both: Environment) -> None:
    trees = both.python_prints(TREES_OF_SCRIPTS).splitlines()
    assert trees == [str(both.site_packages / name) for name in ("_rocm_sdk_core_7_10", "_rocm_profiler_7_10")]
    assert both.run("rocminfo", "x") == "rocminfo x: chain of 3\n"
    assert both.run("rocprof-sys-run", "x") == "rocprof-sys-run x: chain of 4\n"


def test_in_two_directories_the_first_on_the_path_counts(both: Environment, tmp_path: Path) -> None:
    options = ["--no-index", f"--find-links={NEXT}/index.html", "--only-binary=:all:"]
    static = next((NEXT / "static").glob("*.whl"))
    both.pip("install", *options, f"--target={tmp_path}", f"rocm[libraries] @ {static.as_uri()}")
    version, *paths = both.python_prints(WHERE, tmp_path).splitlines()
    assert version == "7.11.0"
    assert {Path(path).relative_to(tmp_path).parts[0] for path in paths} == {
        "_rocm_sdk_core_7_11",
        "_rocm_sdk_libraries_7_11",
    }
