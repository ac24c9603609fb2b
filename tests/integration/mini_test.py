"""The packages of the mini SDK, of which every answer is known."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environment import LOAD, Environment, is_forwarder

#: How many libraries a call goes through, by the program's name.
CHAINS = {"clang-22": 1, "rocminfo": 3, "rocprof-sys-run": 4}
SCRIPTS = {"hipconfig": "7.1.0-mini", "rocprof-compute": "rocprof-compute"}


#: Opens an unversioned name and the library itself; prints whether both are one.
THROUGH = """
import ctypes, sys
forwarder, library, name = sys.argv[1:]
through, real = ctypes.CDLL(forwarder), ctypes.CDLL(library)
def address(opened, symbol): return ctypes.cast(getattr(opened, symbol), ctypes.c_void_p).value
ctypes.c_int.in_dll(through, name + "_calls").value = 4711
print(address(through, name + "_chain") == address(real, name + "_chain"))
print(ctypes.c_int.in_dll(real, name + "_calls").value)
"""
#: Asks for names that must be loaded already, before and after preloading; prints which are, and whether they are one.
LOADED = """
import ctypes, os, sys
def loaded(name):
    try:
        return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return None
def address(opened): return ctypes.cast(opened.hipblas_chain, ctypes.c_void_p).value
names = ["libhipblas.so", "libhipblas.so.3"]
print([loaded(name) is not None for name in names])
import rocm_sdk
rocm_sdk.preload_libraries("hipblas")
print([loaded(name) is not None for name in names])
print(len({address(loaded(name)) for name in names}), loaded("libhipblas.so").hipblas_chain())
"""


def planned(treatment: str) -> list[tuple[str, dict[str, Any]]]:
    """List every entry of the plans with that treatment: the tree it is in, and the entry."""
    plans = [json.loads(Path(path).read_text(encoding="utf-8")) for path in os.environ["PLANS"].split()]
    return [(plan["tree"], entry) for plan in plans for entry in plan["entries"] if entry["treatment"] == treatment]


def cases(treatment: str) -> list[Any]:
    """Return the entries as test cases that are named by their path."""
    return [pytest.param(tree, entry, id=entry["path"]) for tree, entry in planned(treatment)]


def test_the_plans_have_something_to_test() -> None:
    assert (len(planned("launcher")), len(planned("forwarder"))) == (12, 11)


def answer(called: str, program: str, arguments: tuple[str, ...]) -> str:
    """Return what a program of the mini SDK prints when it is called by a name."""
    if program in SCRIPTS:
        return SCRIPTS[program] + "\n"
    return f"{' '.join((called, *arguments))}: chain of {CHAINS[program]}\n"


@pytest.mark.parametrize(("tree", "entry"), cases("launcher"))
def test_launcher_answers_as_the_program_it_stands_for(
    environment: Environment, tree: str, entry: dict[str, Any]
) -> None:
    launcher = environment.site_packages / tree / entry["path"]
    expected = answer(launcher.name, Path(entry["target"]).name, ("-x", "ï y"))
    assert environment.run(launcher, "-x", "ï y") == expected


@pytest.mark.parametrize(("tree", "entry"), cases("forwarder"))
def test_the_unversioned_name_reaches_the_one_real_library(
    environment: Environment, tree: str, entry: dict[str, Any]
) -> None:
    forwarder = environment.site_packages / tree / entry["path"]
    name = forwarder.name.removeprefix("lib").removesuffix(".so").replace("-", "_")
    library = forwarder.with_name(entry["target"])
    assert environment.python_prints(THROUGH, forwarder, library, name).split() == ["True", "4711"]
    assert (is_forwarder(forwarder), is_forwarder(library)) == (True, False)


def test_preloading_opens_both_names(environment: Environment) -> None:
    """What a program asks for with RTLD_NOLOAD is what a framework preloaded, by either name."""
    assert environment.python_prints(LOADED).splitlines() == ["[False, False]", "[True, True]", "1 5"]


def test_console_scripts_are_those_whose_tools_ship_and_they_answer(environment: Environment) -> None:
    programs = {
        "amdclang": "clang-22",
        "amdclang++": "clang-22",
        "amdlld": "clang-22",
        "hipconfig": "hipconfig",
        "offload-arch": "clang-22",
        "rocminfo": "rocminfo",
        "rocprof-compute": "rocprof-compute",
        "rocprof-sys-instrument": "rocprof-sys-run",
        "rocprof-sys-run": "rocprof-sys-run",
    }
    not_ours = ("python", "𝜋thon", "activate", "Activate")
    scripts = {path.name for path in (environment.directory / "bin").iterdir() if not path.name.startswith(not_ours)}
    assert scripts == {*programs, "rocm-sdk"}
    for script, program in programs.items():
        assert environment.run(script, "a.cpp") == answer(script, program, ("a.cpp",))


def test_python_packages_of_artifacts_are_imported(environment: Environment) -> None:
    """With the library of their tree; of the wheels alone, core need be there."""
    code = "import amdsmi; print(amdsmi.__file__, amdsmi.amdsmi_chain())"
    place = environment.site_packages / "_rocm_sdk_core/share/amd_smi/amdsmi/__init__.py"
    assert environment.python_prints(code) == f"{place} 3\n"


def test_no_library_loads_without_its_rpath(environment: Environment, tmp_path: Path) -> None:
    """The packages' RPATHs are what makes libraries load: elsewhere, the same bytes do not."""
    source = environment.site_packages / "_rocm_sdk_libraries/lib/libhipblas.so.3"
    alone = tmp_path / source.name
    alone.write_bytes(source.read_bytes())
    result = subprocess.run([environment.python, "-c", LOAD, alone], capture_output=True, text=True, check=False)
    assert "librocblas.so.5: cannot open shared object file" in result.stderr


def test_file_modes_are_kept(environment: Environment) -> None:
    """An installer gives executables their bit; what was read-only stays a regular file."""
    tree = environment.site_packages / "_rocm_sdk_core"
    for path, executable in {"bin/hipconfig": True, "bin/amdclang": True, "share/hip/version": False}.items():
        assert bool((tree / path).stat().st_mode & 0o111) == executable, path
