"""What programs written for AMD's packages use of them (docs/rocm/amd-interface.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import FAMILIES, VERSION, FakeSdk

ENTRIES = """
import json
FIELDS = ("shortname", "so_pattern", "dll_pattern", "posix_relpath", "windows_relpath", "optional")
from rocm_sdk import _dist_info as d
from rocm_sdk_core import _dist_info as in_core
assert in_core.ALL_PACKAGES is d.ALL_PACKAGES
target = d.AVAILABLE_TARGET_FAMILIES[0]
print(json.dumps({
    "version": d.__version__,
    "nonce": d.PY_PACKAGE_SUFFIX_NONCE,
    "default": d.DEFAULT_TARGET_FAMILY,
    "targets": d.AVAILABLE_TARGET_FAMILIES,
    "packages": {
        name: [entry.get_dist_package_name(target), entry.get_py_package_name(target), entry.has_py_package(target)]
        for name, entry in d.ALL_PACKAGES.items()
    },
    "library": [getattr(d.ALL_LIBRARIES["miopen"], name) for name in FIELDS],
    "without a DLL": d.ALL_LIBRARIES["rccl"].dll_pattern,
    "of": d.ALL_LIBRARIES["miopen"].package.dist_package_template,
}))
"""
REGISTERED = """
LibraryEntry("x", "core", "libamdhip64.so.5", "")
LibraryEntry("y", "core", "librocm_sysdeps_*.so*", "", "lib/rocm_sysdeps/lib", False)
LibraryEntry("z", "libraries", "libz.so.0", "z*.dll", optional=True)
LibraryEntry("hipblas", "core", "libnosuch.so", "", posix_relpath="lib")
"""
FIND_REGISTERED = """
import json, rocm_sdk
found = rocm_sdk.find_libraries("x", "y", "z")
rocm_sdk.preload_libraries("x")
print(json.dumps({
    "found": list(map(str, found)),
    "loaded": list(rocm_sdk._ALL_CDLLS),
    "kept": rocm_sdk._dist_info.ALL_LIBRARIES["hipblas"].so_pattern,
    "on Windows": [rocm_sdk._dist_info.LIBRARIES[name].on_windows for name in ("x", "y", "z")],
}))
"""
IN_EFFECT = """
import rocm_sdk
from rocm_sdk._dist_info import ALL_PACKAGES, determine_target_family
print(determine_target_family(), ALL_PACKAGES["libraries"].pure_py_package_name, *rocm_sdk.find_libraries("hipblas"))
"""


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory, family_sdk: FakeSdk) -> Environment:
    """Offer an environment with the libraries for two families, of which the first was chosen."""
    environment = Environment.create(tmp_path_factory.mktemp("families") / "venv")
    extras = ",".join(f"libraries-{family.lower()}" for family in FAMILIES)
    environment.install(family_sdk.index, f"rocm[{extras}]", ROCM_SDK_TARGET_FAMILY=FAMILIES[0])
    return environment


def test_each_tree_is_a_package_in_its_directory(shared_environment: Environment) -> None:
    code = "import importlib.util as i, sys; print(*[i.find_spec(name).origin for name in sys.argv[1:]])"
    trees = ("_rocm_sdk_core", "_rocm_sdk_libraries", "_rocm_sdk_devel")
    found = shared_environment.run_code(code, *trees).split()
    assert found == [str(shared_environment.site / tree / "__init__.py") for tree in trees]


@pytest.mark.parametrize("name", ["rocm_sdk", "rocm_sdk_core", "rocm_sdk_libraries", "rocm_sdk_devel"])
def test_packages_have_a_version(shared_environment: Environment, name: str) -> None:
    assert shared_environment.run_code(f"import {name}; print({name}.__version__)").strip() == VERSION


def test_entries_of_packages_and_libraries(shared_environment: Environment) -> None:
    assert json.loads(shared_environment.run_code(ENTRIES)) == {
        "version": VERSION,
        "nonce": "",
        "default": "gfx1100",
        "targets": ["gfx1100", "gfx942"],
        "packages": {
            "core": ["rocm-sdk-core", "_rocm_sdk_core", True],
            "libraries": ["rocm-sdk-libraries", "_rocm_sdk_libraries", True],
            "device": ["rocm-sdk-device-gfx1100", "_rocm_sdk_libraries", False],
            "devel": ["rocm-sdk-devel", "_rocm_sdk_devel", True],
            "profiler": ["rocm-profiler", "_rocm_profiler", False],
        },
        "library": ["miopen", "libMIOpen.so*", "*MIOpen*.dll", "lib", "bin", False],
        "without a DLL": "",
        "of": "rocm-sdk-libraries",
    }


def test_libraries_that_scripts_register_are_found(environment: Environment, split_sdk: FakeSdk) -> None:
    """Scripts for AMD's packages append such lines to `_dist_info.py`; the last one is of a name that is there."""
    environment.install(split_sdk.index, "rocm[device]")
    with (environment.site / "rocm_sdk/_dist_info.py").open("a") as file:
        file.write(REGISTERED)
    tree = environment.site / "_rocm_sdk_core/lib"
    assert json.loads(environment.run_code(FIND_REGISTERED)) == {
        "found": [str(tree / "libamdhip64.so.5"), str(tree / "rocm_sysdeps/lib/librocm_sysdeps_liblzma.so.5")],
        "loaded": ["x"],
        "kept": "libhipblas.so*",
        "on Windows": [False, False, True],
    }
    assert '"x",' in environment.rocm_sdk("init-py", "--preload", "x")


def test_a_registered_library_of_no_package_is_a_value_error(shared_environment: Environment) -> None:
    code = "import rocm_sdk; rocm_sdk._dist_info.LibraryEntry('x', 'nosuch', 'libx.so', '')"
    said = shared_environment.run_code(code, check=False)
    assert "ValueError: library x: there is no package 'nosuch'; expected one of core, libraries, device" in said


@pytest.mark.parametrize(("variable", "chosen"), [("", 0), ("gfx94X-dcgpu", 1), ("gfx94x-dcgpu", 1), ("gfx942", 1)])
def test_the_environment_variable_chooses_among_families(families: Environment, variable: str, chosen: int) -> None:
    target, package, library = families.run_code(IN_EFFECT, ROCM_SDK_TARGET_FAMILY=variable).split()
    assert target == FAMILIES[chosen]
    assert package == "rocm_sdk_libraries_" + FAMILIES[chosen].replace("-", "_")
    assert Path(library).parts[-3:] == (f"_{package}", "lib", "libhipblas.so.2")


def test_an_unknown_family_is_a_value_error(families: Environment) -> None:
    output = families.run_code(IN_EFFECT, check=False, ROCM_SDK_TARGET_FAMILY="gfx1200")
    assert "TargetError: ROCM_SDK_TARGET_FAMILY=gfx1200: there is no package for this target." in output
    code = "from rocm_sdk._dist_info import *\ntry: determine_target_family()\nexcept ValueError: print('refused')"
    assert families.run_code(code, ROCM_SDK_TARGET_FAMILY="gfx1200") == "refused\n"


def test_detection_says_what_it_asked_if_that_is_wanted(families: Environment) -> None:
    code = "from rocm_sdk._dist_info import discover_current_target_family as d; d()"
    assert families.run_code(code, PATH="/usr/bin:/bin") == ""
    assert "[rocm_sdk] offload-arch: neither in this Python environment nor on PATH\n" in families.run_code(
        code, PATH="/usr/bin:/bin", ROCM_SDK_VERBOSE="1"
    )


def test_targets_are_one_line_for_builds(shared_environment: Environment, families: Environment) -> None:
    assert shared_environment.rocm_sdk("targets") == "gfx1100;gfx942\n"
    assert families.rocm_sdk("targets") == "gfx1100;gfx1101;gfx1102;gfx1103;gfx942\n"


def test_the_command_line_is_in_main(shared_environment: Environment) -> None:
    code = "import sys; from rocm_sdk.__main__ import main; sys.exit(main(['version']))"
    assert shared_environment.run_code(code).strip() == VERSION


def test_the_path_of_core(shared_environment: Environment) -> None:
    code = "from rocm_sdk_core import _cli; print(_cli._get_core_module_path())"
    assert Path(shared_environment.run_code(code).strip()) == shared_environment.site / "_rocm_sdk_core"
