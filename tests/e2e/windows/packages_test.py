"""Packages for Windows, installed by real CPython for Windows with pip, under wine.

    .ci/run windows-packages

It builds them, fetches CPython, and calls this in a root that has wine, from the top of the workspace.
"""

import json
import re
from pathlib import Path

import pytest

from tests.e2e.windows.machine import Wine, install_python, install_uv, windows_path

PIP = ("-m", "pip", "--disable-pip-version-check")
#: With the package of the target that is chosen without a GPU.
EVERYTHING = "rocm[libraries,device,devel]"
INSTALLED = ("rocm", "rocm-sdk-core", "rocm-sdk-devel", "rocm-sdk-device-gfx1100", "rocm-sdk-libraries")
#: The DLLs of the packages, and how many calls go from each to the last.
CHAINS = {"amd_comgr": 1, "amdhip64": 2, "hiprtc": 3, "rocblas": 3, "hiprand": 3, "hipblas": 4}


class Python:
    """CPython for Windows in which the packages are installed."""

    def __init__(self, machine: Wine, program: Path) -> None:
        self.machine, self.program = machine, program
        self.site = program.parent / "Lib/site-packages"

    def __call__(self, *arguments: str, variables: dict[str, str] | None = None) -> str:
        """Run it, and return what it prints; AssertionError with all of that if it fails."""
        done = self.machine.run(self.program, *arguments, variables=variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def install(self, page: str, *requirements: str) -> None:
        """Have pip install packages of an index."""
        options = ("--no-index", f"--find-links={page}", "--no-warn-script-location", "--pre")
        self(*PIP, "install", *options, *requirements)

    def files(self) -> set[str]:
        """Return what is in its directory; Python's own caches do not count."""
        found = self.program.parent.rglob("*")
        return {str(path) for path in found if "__pycache__" not in path.parts}


@pytest.fixture(scope="session")
def python(machine: Wine, page: str, fetched: Path, tmp_path_factory: pytest.TempPathFactory) -> Python:
    made = Python(machine, install_python(fetched, tmp_path_factory.mktemp("python")))
    made.install(page, EVERYTHING)
    return made


def test_pip_finds_nothing_wrong(python: Python) -> None:
    assert "No broken requirements found" in python(*PIP, "check")


def test_every_self_check_passes(python: Python) -> None:
    results = json.loads(python("-m", "rocm_sdk", "test", "--json"))
    assert {one["outcome"] for one in results["results"]} == {"passed"}, results
    libraries = [one["name"] for one in results["results"] if one["name"].startswith("library:")]
    assert len(libraries) == 7
    assert "library:_rocm_sdk_libraries/bin/libhipblas.dll" in libraries


@pytest.fixture
def hostile(python: Python, tmp_path: Path) -> str:
    """Return a directory with a file of the name of each DLL, none of which can be loaded."""
    for tree in ("_rocm_sdk_core", "_rocm_sdk_libraries"):
        for library in (python.site / tree / "bin").glob("*.dll"):
            (tmp_path / library.name).write_bytes(b"MZ, but no library")
    return windows_path(tmp_path)


def test_dlls_of_the_same_names_on_path_are_not_asked(python: Python, hostile: str) -> None:
    """Neither where a program is, nor the current directory, nor PATH has a say."""
    code = (
        "import ctypes, json, os, sys, rocm_sdk; os.chdir(sys.argv[1]); names = json.loads(sys.argv[2]); "
        "rocm_sdk.preload_libraries(*reversed(names)); paths = rocm_sdk.find_libraries(*names); "
        "print(json.dumps([getattr(ctypes.CDLL(str(p)), n + '_chain')() for n, p in zip(names, paths)]))"
    )
    printed = python("-c", code, hostile, json.dumps(list(CHAINS)), variables={"WINEPATH": hostile})
    assert json.loads(printed) == list(CHAINS.values())


def test_the_module_of_any_sdk_loads_dlls_across_packages(
    python: Python, hostile: str, request: pytest.FixtureRequest
) -> None:
    (wheel,) = (request.config.getoption("--dist").parent / "static").glob("acme_sdk-*.whl")
    python(*PIP, "install", "--no-index", "--no-deps", windows_path(wheel))
    code = """
import acme_sdk, json, os, sys
os.chdir(sys.argv[1])
found = acme_sdk.find_library("hipblas")
print(json.dumps([found.name.lower(), acme_sdk.load_library("hipblas").hipblas_chain()]))
"""
    printed = python("-c", code, hostile, variables={"WINEPATH": hostile})
    assert json.loads(printed) == ["libhipblas.dll", CHAINS["hipblas"]]


def test_extension_modules_find_the_dlls(python: Python) -> None:
    """Python looks for what they need where `preload_libraries` says, without any of it being loaded."""
    code = (
        "import ctypes, rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['amdhip64']); "
        "print(ctypes.CDLL('rocblas.dll').rocblas_chain())"
    )
    assert python("-c", code).strip() == "3"


def test_console_scripts_and_launchers_hand_all_on(machine: Wine, python: Python) -> None:
    core = python.site / "_rocm_sdk_core"
    for program in (python.program.parent / "Scripts/amdclang.exe", core / "bin/amdclang.exe"):
        done = machine.run(program, "a b", 'c"d', "e\\")
        assert (done.returncode, done.stderr) == (0, "")
        # Each of those between may quote as it likes.
        assert re.search(r' "a b" "?c\\"d"? e\\: chain of 0$', done.stdout.rstrip()), done.stdout
    done = machine.run(python.program.parent / "Scripts/hipInfo.exe")
    assert done.stdout.rstrip().endswith(": chain of 2"), done.stdout


def test_the_devel_tree_is_whole_and_has_no_links(python: Python) -> None:
    root = python("-m", "rocm_sdk", "path", "--root").strip()
    assert root == windows_path(python.site / "_rocm_sdk_devel")
    tree = python.site / "_rocm_sdk_devel"
    found = {path.relative_to(tree).as_posix() for path in tree.rglob("*")}
    assert {"bin/amdhip64_7.dll", "bin/rocblas.dll", "lib/rocblas.lib", "include/hip/hip_runtime.h"} <= found
    assert "bin/rocblas/library/Kernels_gfx1100.dat" in found
    assert not any(path.is_symlink() for path in tree.rglob("*"))
    assert (tree / "bin/rocblas.dll").samefile(python.site / "_rocm_sdk_libraries/bin/rocblas.dll")


def test_nothing_is_left_when_all_is_uninstalled(machine: Wine, page: str, fetched: Path, tmp_path: Path) -> None:
    python = Python(machine, install_python(fetched, tmp_path))
    before = python.files()
    python.install(page, EVERYTHING)
    python("-m", "rocm_sdk", "init")
    assert python.files() > before
    python(*PIP, "uninstall", "--yes", *INSTALLED)
    assert python.files() - before <= {str(python.program.parent / "Scripts")}


def test_uv_installs_and_uninstalls(machine: Wine, page: str, fetched: Path, tmp_path: Path) -> None:
    python, uv = Python(machine, install_python(fetched, tmp_path)), install_uv(fetched, tmp_path)
    before = python.files()

    def call(*arguments: str) -> str:
        done = machine.run(uv, "pip", *arguments, "--no-config", "--python", windows_path(python.program))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr

    call("install", "--offline", "--no-index", f"--find-links={page}", "--prerelease=allow", EVERYTHING)
    results = json.loads(python("-m", "rocm_sdk", "test", "--json"))
    assert results["summary"]["failed"] == 0
    for script in ("amdclang", "hipInfo"):
        done = machine.run(python.program.parent / f"Scripts/{script}.exe", "a b", "")
        assert (done.returncode, done.stderr) == (0, "")
        assert f'{script}.exe "a b" "": chain of ' in done.stdout
    assert json.loads(python("-m", "rocm_sdk", "test", "--json"))["summary"]["failed"] == 0
    call("uninstall", *INSTALLED)
    assert python.files() - before <= {str(python.program.parent / "Scripts")}
