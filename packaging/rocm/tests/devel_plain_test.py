"""A devel package that has its tree as ordinary files: nothing is made, and uninstalling leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import SCRIPT, FakeSdk, copy_index, glue, shared_library, write_wheel
from rocm_sdk.devel import devel_root
from rocm_sdk.devel.inspect import find_faults
from rocm_sdk.errors import DevelError

TREE = "_rocm_sdk_devel"


@pytest.fixture
def plain_sdk(split_sdk: FakeSdk, tmp_path: Path) -> FakeSdk:
    sdk = copy_index(split_sdk, tmp_path / "plain")
    module = {name: data for name, data in glue("devel", "rocm_sdk_devel").items() if "/_devel." not in name}
    files = {
        f"{TREE}/__init__.py": b'"""A tree."""\n',
        f"{TREE}/include/hip.h": b"// hip\n",
        f"{TREE}/lib/libamdhip64.so": b'INPUT("../../_rocm_sdk_core/lib/libamdhip64.so.5")\n',
        f"{TREE}/lib/libamdhip64.so.5": shared_library(),
        f"{TREE}/bin/hipcc": SCRIPT,
    }
    write_wheel(sdk.index, "rocm-sdk-devel", sdk.version, module | files)
    return sdk


def contents(root: Path) -> dict[str, int]:
    files = (path for path in root.rglob("*") if "__pycache__" not in path.parts and not path.is_dir())
    return {str(path): path.lstat().st_mtime_ns for path in files}


def test_install_use_uninstall_leaves_nothing(any_environment: Environment, plain_sdk: FakeSdk) -> None:
    before = any_environment.files()
    any_environment.install(plain_sdk.index, "rocm[libraries,devel,device-all]")
    installed = contents(any_environment.site)
    root = any_environment.site / TREE
    assert Path(any_environment.rocm_sdk("path", "--root").strip()) == root
    assert any_environment.rocm_sdk("init").strip().endswith(str(root))
    hipcc = any_environment.root / "bin/hipcc"
    assert any_environment.run(str(hipcc), "-v") == f"{root}/bin/hipcc -v\n"
    assert "0 failed" in any_environment.rocm_sdk("test")
    assert contents(any_environment.site) == installed
    everything = "rocm rocm-sdk-core rocm-sdk-libraries rocm-sdk-device-gfx1100 rocm-sdk-device-gfx942 rocm-sdk-devel"
    any_environment.uninstall(*everything.split())
    assert any_environment.files() == before


def test_no_directory_for_made_trees_is_looked_at(
    install: Callable[..., Path], plain_sdk: FakeSdk, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = install(plain_sdk)
    monkeypatch.setenv("ROCM_SDK_DEVEL_ROOT", "/nonexistent")
    assert devel_root(verify=True) == site / TREE
    assert find_faults() == []


def test_no_record_is_needed(install: Callable[..., Path], plain_sdk: FakeSdk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other package managers than pip keep their own lists."""
    site = install(plain_sdk)
    next(site.glob("rocm_sdk_devel-*.dist-info/RECORD")).unlink()
    assert devel_root() == site / TREE


def test_a_read_only_environment(install: Callable[..., Path], plain_sdk: FakeSdk) -> None:
    site = install(plain_sdk)
    before = contents(site)
    for path in [site, *site.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        assert devel_root() == site / TREE
        assert contents(site) == before
    finally:
        for directory, _, _ in os.walk(site):
            Path(directory).chmod(0o755)


def test_core_of_another_version_is_named(install: Callable[..., Path], plain_sdk: FakeSdk) -> None:
    site = install(plain_sdk, "rocm_sdk_devel")
    with pytest.raises(DevelError, match=rf"rocm-sdk-core, which is not installed in {site}"):
        devel_root()
