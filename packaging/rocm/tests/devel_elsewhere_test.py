"""The development tree outside of site-packages, where ROCM_SDK_DEVEL_ROOT says."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_sdk import FakeSdk, make_sdk
from rocm_sdk.devel import devel_root
from rocm_sdk.devel.inspect import find_faults
from rocm_sdk.devel.layout import ROOT_VARIABLE
from rocm_sdk.errors import DevelError, DevelReadOnlyError
from trees import TREE, recorded, tree_of

INFO = "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "not yet/there"
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    return root


def listing(site: Path) -> dict[str, int]:
    """Return all that site-packages has, with times."""
    return {path.relative_to(site).as_posix(): path.lstat().st_mtime_ns for path in site.rglob("*")}


def test_the_tree_is_that_of_site_packages_and_they_do_not_change(
    site: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = listing(site)
    root = devel_root()
    assert listing(site) == before
    assert root.parent.parent == elsewhere
    assert root.parent.name.startswith("rocm_sdk_devel-7.10.0.dev0-")
    assert root.name == TREE
    assert (root / "bin/hipcc").samefile(site / "_rocm_sdk_core/bin/hipcc")
    assert not (root / "bin/hipcc").is_symlink()
    assert (root / "lib/rocblas/library/Kernels_gfx942.co").read_bytes() == b"gfx942"
    assert find_faults() == []
    monkeypatch.setenv(ROOT_VARIABLE, "")
    devel_root()
    assert tree_of(site) == tree_of(root.parent)


def test_relative_rpath_entries_lead_to_the_other_packages(site: Path, elsewhere: Path) -> None:
    lib = devel_root() / "lib"
    assert (lib / "../../_rocm_sdk_core/lib/libamdhip64.so.5").samefile(site / "_rocm_sdk_core/lib/libamdhip64.so.5")
    assert (lib / "../../_rocm_sdk_libraries/lib").samefile(site / "_rocm_sdk_libraries/lib")


def test_the_second_call_changes_nothing(site: Path, elsewhere: Path) -> None:
    assert devel_root() == devel_root()
    before = listing(elsewhere)
    devel_root()
    assert listing(elsewhere) == before


def test_links_follow_packages_that_come_and_go(site: Path, elsewhere: Path) -> None:
    root = devel_root()
    kernel = root / "lib/rocblas/library/Kernels_gfx942.co"
    (site / INFO).rename(site / "away")
    devel_root()
    assert not kernel.exists()
    (site / "away").rename(site / INFO)
    devel_root()
    assert kernel.exists()
    for path in sorted(site.glob("*rocm_sdk_libraries*")):
        shutil.rmtree(path)
    shutil.rmtree(site / INFO)
    importlib.invalidate_caches()
    devel_root()
    assert not os.path.lexists(root.parent / "_rocm_sdk_libraries")
    assert not os.path.lexists(root / "lib/libhipblas.so")
    assert find_faults() == []


def test_environments_do_not_share_a_tree(
    site: Path, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = devel_root()
    shutil.copytree(site, tmp_path / "copy", symlinks=True)
    monkeypatch.syspath_prepend(str(tmp_path / "copy"))
    importlib.invalidate_caches()
    second = devel_root()
    assert second.parent.parent == first.parent.parent
    assert second != first
    assert (second / "bin/hipcc").samefile(tmp_path / "copy/_rocm_sdk_core/bin/hipcc")
    before = listing(first)
    (second / "include/hip.h").unlink()
    devel_root(verify=True)
    assert listing(first) == before


def test_an_environment_reached_by_another_path_has_the_same_tree(
    site: Path, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = devel_root()
    (tmp_path / "link").symlink_to(site)
    monkeypatch.syspath_prepend(str(tmp_path / "link"))
    importlib.invalidate_caches()
    assert devel_root() == first


def test_versions_do_not_share_a_tree(
    install: Callable[..., Path], split_sdk: FakeSdk, elsewhere: Path, tmp_path: Path
) -> None:
    site = install(split_sdk)
    old = devel_root()
    for path in sorted(site.iterdir()):
        shutil.rmtree(path)
    install(make_sdk(tmp_path / "newer", layout="split", version="7.11"))
    assert devel_root().parent.name.startswith("rocm_sdk_devel-7.11-")
    assert (old / "include/hip.h").exists()


def test_a_relative_directory_is_taken_from_where_the_process_is(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(ROOT_VARIABLE, "here")
    root = devel_root()
    assert root.is_absolute()
    assert root.parent.parent == tmp_path / "here"


def test_a_lost_or_cut_file_comes_back_with_verify(site: Path, elsewhere: Path) -> None:
    root = devel_root()
    whole = tree_of(root.parent)
    (root / "lib/ï.h").unlink()
    (root / "bin/tool.sh").write_bytes(b"#!")
    assert [fault.partition(" is ")[0] for fault in find_faults()] == [f"{TREE}/bin/tool.sh", f"{TREE}/lib/ï.h"]
    devel_root(verify=True)
    assert tree_of(root.parent) == whole
    assert recorded(site) == set()


def test_a_directory_that_cannot_be_made_is_named(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / "file/below"))
    with pytest.raises(DevelError, match=r"could not be made: .*Not a directory: '.*/file/below"):
        devel_root()


def test_a_directory_that_cannot_be_written_names_the_variable(
    site: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(DevelReadOnlyError, match=r"denied\)\. Set ROCM_SDK_DEVEL_ROOT, which names its"):
        devel_root()
