"""Installing the `rocm` sdist and what it brings, using it, and uninstalling: with real pip and uv, offline."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import TARGETS_OF_LAYOUT, VERSION, FakeSdk, make_sdk

TREE = "_rocm_sdk_devel"


def test_install_use_uninstall_leaves_nothing(any_environment: Environment, split_sdk: FakeSdk) -> None:
    before = any_environment.files()
    any_environment.install(split_sdk.index, "rocm[libraries,devel,device-all,profiler]")

    assert any_environment.rocm_sdk("version") == f"{VERSION}\n"
    root = Path(any_environment.rocm_sdk("path", "--root").strip())
    assert root == any_environment.site / TREE
    assert any_environment.rocm_sdk("path", "--cmake").strip() == str(root / "lib/cmake")
    assert (root / "include/hip.h").read_bytes() == b"// hip\n"
    assert os.access(root / "bin/tool.sh", os.X_OK)
    assert (root / "lib/libamdhip64.so.5").samefile(any_environment.site / "_rocm_sdk_core/lib/libamdhip64.so.5")
    assert not (root / "lib/libamdhip64.so.5").is_symlink()
    assert str((root / "llvm").readlink()) == "lib/llvm"
    assert str((root / "lib/libhipblas.so").readlink()) == "libhipblas.so.2"
    assert (root / "lib/rocblas/library/Kernels_gfx942.co").read_bytes() == b"gfx942"
    assert "0 failed" in any_environment.rocm_sdk("test")

    everything = "rocm rocm-sdk-core rocm-sdk-libraries rocm-sdk-device-gfx1100 rocm-sdk-device-gfx942"
    any_environment.uninstall(*everything.split(), "rocm-sdk-devel", "rocm-profiler")
    any_environment.check_restored(before)


@pytest.mark.parametrize("first", ["rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel"])
def test_uninstalling_in_any_order_leaves_nothing(any_environment: Environment, split_sdk: FakeSdk, first: str) -> None:
    before = any_environment.files()
    any_environment.install(split_sdk.index, "rocm[libraries,devel,device]")
    any_environment.rocm_sdk("init")
    rest = ["rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx1100", "rocm-sdk-devel"]
    any_environment.uninstall(first)
    any_environment.uninstall(*[name for name in rest if name != first])
    any_environment.check_restored(before)


def test_a_half_made_tree_is_uninstalled_as_well(any_environment: Environment, split_sdk: FakeSdk) -> None:
    before = any_environment.files()
    any_environment.install(split_sdk.index, "rocm[devel]")
    crash = "from rocm_sdk.devel_tree import DevelTree as T\nT._finish = lambda *a: __import__('os')._exit(9)\n"
    any_environment.run_code(crash + "import rocm_sdk.devel; rocm_sdk.devel.devel_root()", check=False)
    assert (any_environment.site / TREE / "bin/hipcc").exists()
    any_environment.uninstall("rocm", "rocm-sdk-devel", "rocm-sdk-core")
    any_environment.check_restored(before)


# As where protected_hardlinks forbids them, or the file system has none.
WITHOUT_HARD_LINKS = """
import os
def refuse(*_):
    raise OSError(1, "Operation not permitted")
os.link = refuse
from rocm_sdk.devel import devel_root
devel_root()
"""


@pytest.mark.parametrize("first", ["rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx942"])
def test_without_hard_links(any_environment: Environment, split_sdk: FakeSdk, first: str) -> None:
    """Pip takes a link for missing once the package that it leads to is gone."""
    before = any_environment.files()
    any_environment.install(split_sdk.index, "rocm[libraries,devel,device-gfx942]")
    any_environment.run_code(WITHOUT_HARD_LINKS)
    assert (any_environment.site / TREE / "lib/libamdhip64.so.5").is_symlink()
    assert not (any_environment.site / TREE / "bin/hipcc").is_symlink()
    assert "0 failed" in any_environment.rocm_sdk("test")
    own = any_environment.site / TREE / "lib/own.so"
    own.touch()
    rest = ["rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx942", "rocm-sdk-devel"]
    any_environment.uninstall(first)
    any_environment.uninstall(*[name for name in rest if name != first])
    left = any_environment.files() - before
    assert [path for path in left if not (any_environment.root / path).is_dir()] == [
        str(own.relative_to(any_environment.root))
    ]


def test_a_file_of_the_users_stays(any_environment: Environment, split_sdk: FakeSdk) -> None:
    before = any_environment.files()
    any_environment.install(split_sdk.index, "rocm[devel]")
    own = Path(any_environment.rocm_sdk("path", "--include").strip()) / "own.h"
    own.touch()
    any_environment.uninstall("rocm", "rocm-sdk-devel", "rocm-sdk-core")
    left = any_environment.files() - before
    assert max(left) == own.relative_to(any_environment.root).as_posix()
    assert all((any_environment.root / path).is_dir() for path in left - {max(left)})


def test_links_follow_packages_that_come_and_go(any_environment: Environment, split_sdk: FakeSdk) -> None:
    any_environment.install(split_sdk.index, "rocm[devel]")
    library = any_environment.site / TREE / "lib/libhipblas.so"
    kernel = any_environment.site / TREE / "lib/rocblas/library/Kernels_gfx942.co"
    any_environment.rocm_sdk("init")
    assert not os.path.lexists(library)

    any_environment.install(split_sdk.index, "rocm-sdk-device-gfx942")
    any_environment.rocm_sdk("path", "--root")
    assert library.exists()
    assert kernel.samefile(any_environment.site / "_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx942.co")

    any_environment.uninstall("rocm-sdk-device-gfx942")
    any_environment.rocm_sdk("path", "--root")
    assert library.exists()
    assert not kernel.parent.exists()

    any_environment.uninstall("rocm-sdk-libraries")
    any_environment.rocm_sdk("path", "--root")
    assert not os.path.lexists(library)
    assert "0 failed" in any_environment.rocm_sdk("test", "-k", "devel")


def test_family_libraries_are_linked_into_the_tree(any_environment: Environment, family_sdk: FakeSdk) -> None:
    before = any_environment.files()
    any_environment.install(family_sdk.index, "rocm[libraries,devel]", ROCM_SDK_TARGET_FAMILY="gfx942")
    lib = any_environment.site / TREE / "lib"
    any_environment.rocm_sdk("init")
    assert (lib / "libhipblas.so").exists()
    libraries = any_environment.site / "_rocm_sdk_libraries_gfx94X_dcgpu/lib"
    assert (lib / "gfx94X-dcgpu.co").samefile(libraries / "gfx94X-dcgpu.co")
    found = any_environment.run_code("import rocm_sdk; print(*rocm_sdk.find_libraries('hipblas'))")
    assert found.strip() == str(libraries / "libhipblas.so.2")
    assert "0 failed" in any_environment.rocm_sdk("test")
    any_environment.uninstall("rocm", "rocm-sdk-core", "rocm-sdk-libraries-gfx94X-dcgpu", "rocm-sdk-devel")
    any_environment.check_restored(before)


@pytest.mark.parametrize("layout", ["family", "thin"])
def test_of_two_libraries_packages_the_chosen_one_is_linked_first(
    environment: Environment, request: pytest.FixtureRequest, layout: str
) -> None:
    """If both packages have a path, the chosen target's is linked; choosing again changes the links."""
    sdk: FakeSdk = request.getfixturevalue(f"{layout}_sdk")
    targets = TARGETS_OF_LAYOUT[layout]
    before = environment.files()
    packages = [f"rocm-sdk-libraries-{target}" for target in targets]
    for number, chosen in enumerate((targets[1], targets[0], targets[1])):
        if number:
            environment.uninstall("rocm")
        caches = dict.fromkeys(("PIP_CACHE_DIR", "UV_CACHE_DIR"), str(environment.root / f"cache-{number}"))
        wish = {"ROCM_SDK_TARGET_FAMILY": chosen, **caches}
        environment.install(sdk.index, "rocm[libraries,devel]", *packages, check=True, **wish)
        root = Path(environment.rocm_sdk("path", "--root").strip())
        libraries = environment.site / f"_rocm_sdk_libraries_{chosen.replace('-', '_')}/lib/libhipblas.so.2"
        assert (root / "lib/libhipblas.so").samefile(libraries)
        assert environment.run_code("import rocm_sdk; print(*rocm_sdk.find_libraries('hipblas'))").strip() == str(
            libraries
        )
        assert all((root / f"lib/{target}.co").is_file() for target in targets)
        assert environment.rocm_sdk("init") == f"The development tree is ready: {root}\n"
        assert "0 failed" in environment.rocm_sdk("test")
    environment.uninstall(packages[1])
    environment.rocm_sdk("init")
    assert not (root / f"lib/{targets[1]}.co").exists()
    assert (root / "lib/libhipblas.so.2").samefile(
        environment.site / f"_rocm_sdk_libraries_{targets[0].replace('-', '_')}/lib/libhipblas.so.2"
    )
    environment.uninstall("rocm", "rocm-sdk-core", packages[0], "rocm-sdk-devel")
    environment.check_restored(before)


def test_upgrade_makes_the_tree_anew(any_environment: Environment, split_sdk: FakeSdk, tmp_path: Path) -> None:
    newer = make_sdk(tmp_path / "newer", layout="split", version="7.10.0")
    any_environment.install(split_sdk.index, "--pre", "rocm[libraries,devel,device]")
    any_environment.rocm_sdk("init")
    any_environment.install(newer.index, "rocm[libraries,devel,device]==7.10.0")
    assert not (any_environment.site / TREE / "bin/hipcc").exists()
    any_environment.rocm_sdk("init")
    assert "0 failed" in any_environment.rocm_sdk("test")


def test_core_of_another_version_is_refused(environment: Environment, split_sdk: FakeSdk, tmp_path: Path) -> None:
    newer = make_sdk(tmp_path / "newer", layout="split", version="7.11.0")
    environment.install(split_sdk.index, "rocm[devel]")
    environment.install(newer.index, "--no-deps", "rocm-sdk-core==7.11.0")
    output = environment.rocm_sdk("path", "--root", check=False)
    assert (
        "is 7.11.0, and rocm is 7.10.0.dev0; expected one version. Install it: pip install rocm-sdk-devel==" in output
    )
    assert "Traceback" not in output
    assert "Install one version of all" in environment.rocm_sdk("test", check=False)


def test_devel_not_installed_names_the_remedy(environment: Environment, split_sdk: FakeSdk) -> None:
    environment.install(split_sdk.index, "rocm")
    output = environment.rocm_sdk("path", "--bin", check=False)
    assert output == (
        f'rocm-sdk: error: rocm-sdk-devel is not installed. Install it: pip install "rocm[devel]=={VERSION}"\n'
    )


def test_missing_libraries_package_names_the_command(environment: Environment, split_sdk: FakeSdk) -> None:
    environment.install(split_sdk.index, "rocm")
    code = "import rocm_sdk; rocm_sdk.find_libraries('amdhip64', 'hipblas', 'miopen')"
    output = environment.run_code(code, check=False)
    assert output.strip().endswith(
        "ModuleNotFoundError: hipblas, miopen: not installed: rocm-sdk-libraries==7.10.0.dev0. Install with: "
        'pip install "rocm[libraries]==7.10.0.dev0"'
    )


def test_initialize_process_preloads(environment: Environment, split_sdk: FakeSdk) -> None:
    environment.install(split_sdk.index, "rocm[libraries]")
    code = (
        "from rocm_sdk import initialize_process\n"
        "initialize_process(preload_shortnames=['amdhip64', 'rocdxg'], check_version='7.10.*')\n"
        "print(open('/proc/self/maps').read())"
    )
    loaded = environment.run_code(code, ROCM_SDK_PRELOAD_LIBRARIES="hipblas; miopen,")
    for name in ("libamdhip64.so.5", "libhipblas.so.2", "libMIOpen.so.1"):
        assert name in loaded
    output = environment.run_code(code, check=False, ROCM_SDK_PRELOAD_LIBRARIES="nosuch")
    assert "RuntimeError: ROCM_SDK_PRELOAD_LIBRARIES='nosuch': unknown ROCm library nosuch" in output


def test_console_scripts_prefer_the_devel_tree(environment: Environment, split_sdk: FakeSdk) -> None:
    environment.install(split_sdk.index, "rocm")
    binaries, site = environment.root / "bin", environment.site
    assert environment.run(str(binaries / "hipcc"), "-c") == f"{site}/_rocm_sdk_core/bin/hipcc -c\n"
    environment.install(split_sdk.index, "rocm[devel]")
    assert environment.run(str(binaries / "rocminfo")) == f"{site}/_rocm_sdk_core/bin/rocminfo\n"
    assert not (site / TREE / "bin/hipcc").exists()
    assert environment.run(str(binaries / "amdclang"), "x") == f"{site}/{TREE}/lib/llvm/bin/amdclang x\n"
    environment.uninstall("rocm")
    assert environment.run(str(binaries / "hipcc"), "-c") == f"{site}/_rocm_sdk_core/bin/hipcc -c\n"


def test_profiler_scripts_set_search_paths(environment: Environment, split_sdk: FakeSdk) -> None:
    environment.install(split_sdk.index, "rocm[profiler]")
    site = environment.site
    output = environment.run(str(environment.root / "bin/rocprof-sys-run"), "app", LD_LIBRARY_PATH="/own")
    libraries = f"{site}/_rocm_profiler/lib:{site}/_rocm_sdk_core/lib/rocm_sysdeps/lib:/own"
    assert output == f"{libraries}|{site}/_rocm_profiler/libexec/rocprofiler-compute|app\n"


def test_selfcheck_finds_faults(environment: Environment, split_sdk: FakeSdk) -> None:
    environment.install(split_sdk.index, "rocm[libraries,devel]")
    environment.rocm_sdk("init")
    (environment.site / "_rocm_sdk_libraries/lib/libMIOpen.so.1").write_bytes(b"\x7fELF broken")
    (environment.site / TREE / "include/hip.h").unlink()
    (environment.site / TREE / "stray").touch()
    (environment.root / "bin/hipcc").unlink()
    report = json.loads(environment.rocm_sdk("test", "--json", check=False))
    failed = {result["name"]: result["detail"] for result in report["results"] if result["outcome"] == "failed"}
    assert sorted(failed) == [
        "library:_rocm_sdk_libraries/lib/libMIOpen.so.1",
        "preload",
        "record:rocm-sdk-core",
        "record:rocm-sdk-devel",
        "record:rocm-sdk-libraries",
        "script:hipcc",
    ]
    assert "_rocm_sdk_devel/include/hip.h is missing" in failed["record:rocm-sdk-devel"]
    assert report["summary"]["failed"] == len(failed)


def test_without_record_the_packages_are_found(environment: Environment, split_sdk: FakeSdk) -> None:
    """Package managers such as rpm remove RECORD: they know the files themselves."""
    environment.install(split_sdk.index, "rocm[libraries,devel]")
    for record in environment.site.glob("*.dist-info/RECORD"):
        record.unlink()
    assert "core is not installed" not in environment.rocm_sdk("doctor", check=False)
    report = environment.rocm_sdk("test", "-k", "record", check=False)
    assert "skipped record:rocm-sdk-core: " in report
    assert "0 failed" in report
    refused = environment.rocm_sdk("init", check=False)
    assert "is listed in no RECORD, so nothing could remove what has to be made for it" in refused


def test_packages_in_a_directory_of_their_own(split_sdk: FakeSdk, tmp_path: Path) -> None:
    """With `--target`, pip puts programs into `bin` there; RECORD says that they are two directories above."""
    environment = Environment.create(tmp_path / "venv")
    target = tmp_path / "deep/deeper/target"
    environment.install(split_sdk.index, f"--target={target}", "rocm")
    stranger = tmp_path / "deep/bin/hipcc"
    stranger.parent.mkdir()
    stranger.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    stranger.chmod(0o755)
    report = environment.run(
        str(environment.python), "-m", "rocm_sdk", "test", "-k", "script:", check=False, PYTHONPATH=str(target)
    )
    assert "passed  script:hipcc" in report, report
    assert not (tmp_path / "ran").exists()
    report = environment.run(
        str(environment.python), "-m", "rocm_sdk", "test", "-k", "record:rocm-sdk-core", PYTHONPATH=str(target)
    )
    assert "1 passed" in report
