"""The development tree in a directory laid out like site-packages: what is refused, repaired and cleaned up.

Installation and uninstallation with real installers are in `install_test`.
"""

from __future__ import annotations

import importlib
import json
import lzma
import os
import shutil
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_sdk import DevelArchive, FakeSdk, copy_index, distributions, make_sdk, small_devel, write_devel
from rocm_sdk.devel import devel_root, expand, files, layout, links
from rocm_sdk.distributions import parse_distributions
from rocm_sdk.errors import DevelError, DevelReadOnlyError
from trees import TREE, own_files, recorded, tree_of


def test_expansion_is_what_the_archive_says(site: Path) -> None:
    assert devel_root() == site / TREE
    assert tree_of(site)[f"{TREE}/include/hip.h"] == "444 b'// hip\\n'"
    assert tree_of(site)[f"{TREE}/llvm"] == "-> lib/llvm"
    assert tree_of(site)[f"{TREE}/empty"] == "directory"
    assert (site / TREE / "bin/hipcc").samefile(site / "_rocm_sdk_core/bin/hipcc")
    assert own_files(site) == recorded(site)
    assert all(os.path.lexists(site / path) for path in recorded(site))


def test_hidden_files_of_a_target_package_are_linked(site: Path) -> None:
    """Libraries whose device code was split off look for it in `.kpack` beside the `lib` that they lie in."""
    devel_root()
    archive = ".kpack/blas_lib_gfx942.kpack"
    assert (site / TREE / archive).samefile(site / "_rocm_sdk_libraries" / archive)
    assert f"{TREE}/{archive}" in recorded(site)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_modes_are_the_archives_less_the_umask(site: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        devel_root()
    finally:
        os.umask(before)
    assert (site / TREE / "bin/tool.sh").stat().st_mode & 0o777 == 0o755 & ~umask
    assert (site / TREE / "include/hip.h").stat().st_mode & 0o777 == 0o444 & ~umask
    assert (site / TREE / "empty").stat().st_mode & 0o777 == 0o755 & ~umask | 0o700 & ~umask


def test_a_compressed_archive_gives_the_same_tree(
    install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path
) -> None:
    site = install(split_sdk)
    devel_root()
    plain = tree_of(site)
    shutil.rmtree(site)
    site.mkdir()
    sdk = copy_index(split_sdk, tmp_path / "xz")
    write_devel(sdk.index, sdk.version, lzma.compress(small_devel("split")), name="_devel.tar.xz")
    install(sdk)
    devel_root()
    assert tree_of(site) == plain


def test_the_second_call_changes_nothing(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devel_root()
    before = {path: path.lstat().st_mtime_ns for path in site.rglob("*")}
    monkeypatch.setattr(expand, "update", lambda *_: pytest.fail("nothing had changed"))
    devel_root()
    assert {path: path.lstat().st_mtime_ns for path in site.rglob("*")} == before


BAD_MEMBERS = {
    "absolute": lambda a: a.file("/etc/x"),
    "parent": lambda a: a.file(f"{TREE}/../x"),
    "parent at the end": lambda a: a.directory(f"{TREE}/lib/.."),
    "other tree": lambda a: a.file("_rocm_sdk_core/lib/x"),
    "sibling with the same start": lambda a: a.file(f"{TREE}X/x"),
    "double slash": lambda a: a.file(f"{TREE}//x"),
    "hard link": lambda a: a.special(f"{TREE}/x", tarfile.LNKTYPE, f"{TREE}/y"),
    "fifo": lambda a: a.special(f"{TREE}/x", tarfile.FIFOTYPE),
    "link above site-packages": lambda a: a.link(f"{TREE}/x", "../../x"),
    "link to site-packages": lambda a: a.link(f"{TREE}/x", ".."),
    "link to a file of no tree": lambda a: a.link(f"{TREE}/x", "../os.py"),
    "absolute link": lambda a: a.link(f"{TREE}/x", "/etc/passwd"),
    "link and file through it": lambda a: a.link(f"{TREE}/d", "/tmp").file(f"{TREE}/d/x"),
}


@pytest.mark.parametrize("kind", BAD_MEMBERS)
def test_members_that_are_not_allowed_leave_nothing(
    install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path, kind: str
) -> None:
    sdk = copy_index(split_sdk, tmp_path / "bad")
    write_devel(sdk.index, sdk.version, BAD_MEMBERS[kind](DevelArchive().file(f"{TREE}/good")).data())
    site = install(sdk)
    before = sorted(site.rglob("*"))
    with pytest.raises(DevelError, match="The package is broken: report this"):
        devel_root()
    assert sorted(site.rglob("*")) == before
    assert recorded(site) == set()


def test_a_member_below_a_link_does_not_go_through_it(
    install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path
) -> None:
    sdk = copy_index(split_sdk, tmp_path / "bad")
    archive = DevelArchive().directory(f"{TREE}/real").link(f"{TREE}/d", "real").file(f"{TREE}/d/x")
    write_devel(sdk.index, sdk.version, archive.data())
    site = install(sdk)
    with pytest.raises(DevelError, match=rf"{TREE}/d is a link, and has members below it"):
        devel_root()
    assert not (site / TREE).exists()


def break_header(data: bytes) -> bytes:
    return data.replace(f"{TREE}/bin/tool.sh".encode(), f"{TREE}/bin/t00l.sh".encode(), 1)


BREAKS: dict[str, Callable[[bytes], bytes]] = {
    "in a header": lambda data: data[:700],
    "in a file": lambda data: data[: data.index(b"// hip") + 3],
    "between members": lambda data: data[: data.index(b"// hip") // 512 * 512],
    "before the second block of the end": lambda data: data.rstrip(b"\0") + bytes(-len(data.rstrip(b"\0")) % 512 + 512),
    "header sum": break_header,
    "compressed": lambda data: lzma.compress(data)[:-50],
    "compressed and damaged": lambda data: lzma.compress(data)[:200] + bytes(50) + lzma.compress(data)[250:],
    "no tar": lambda _: b"no tar at all",
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("kind", BREAKS)
def test_a_broken_archive_says_what_to_do(site: Path, kind: str) -> None:
    archive = site / "rocm_sdk_devel/_devel.tar"
    broken = BREAKS[kind](archive.read_bytes())
    archive.unlink()
    (archive if "compressed" not in kind else archive.with_suffix(".tar.xz")).write_bytes(broken)
    with pytest.raises(DevelError, match=r"is broken .*pip install --force-reinstall --no-deps rocm-sdk-devel==7\.10"):
        devel_root()
    assert not (site / TREE).exists()


def test_a_missing_archive_matters_only_before_expansion(site: Path) -> None:
    devel_root()
    (site / "rocm_sdk_devel/_devel.tar").unlink()
    devel_root(verify=True)
    shutil.rmtree(site / TREE)
    with pytest.raises(DevelError, match=r"has neither _devel\.tar nor _devel\.tar\.xz"):
        devel_root()


def test_a_lost_file_comes_back_with_verify(site: Path) -> None:
    devel_root()
    whole = tree_of(site)
    for lost in ("include/hip.h", "bin/hipcc", "lib/libamdhip64.so", "lib/rocblas/library/Kernels_gfx942.co"):
        (site / TREE / lost).unlink()
        devel_root(verify=True)
        assert tree_of(site) == whole


def test_a_copied_environment_gets_its_links_back(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devel_root()
    shutil.copytree(site, tmp_path / "copy", symlinks=True)
    monkeypatch.syspath_prepend(str(tmp_path / "copy"))
    importlib.invalidate_caches()
    copied = tmp_path / "copy" / TREE / "lib/libamdhip64.so.5"
    assert not copied.samefile(tmp_path / "copy/_rocm_sdk_core/lib/libamdhip64.so.5")
    assert devel_root(verify=True) == tmp_path / "copy" / TREE
    assert copied.samefile(tmp_path / "copy/_rocm_sdk_core/lib/libamdhip64.so.5")


def test_a_tree_made_by_another_version_of_this_code_is_made_anew(site: Path) -> None:
    devel_root()
    whole, rows = tree_of(site), recorded(site)
    for name in ("state", "content"):
        file = site / TREE / f".rocm-sdk-{name}.json"
        others: list[dict[str, object]] = [{"format": 1}, {"files": [], "links": []}, {}]
        for other in others:
            file.write_text(json.dumps(other))
            devel_root(verify=True)
            assert tree_of(site) == whole, other
            assert recorded(site) == rows, other


def test_without_hard_links_symbolic_ones_are_made(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    lib = devel_root() / "lib"
    assert str((lib / "libamdhip64.so.5").readlink()) == "../../_rocm_sdk_core/lib/libamdhip64.so.5"
    assert str((lib / "llvm/bin/amdclang").readlink()) == "../../../../_rocm_sdk_core/lib/llvm/bin/amdclang"
    assert (site / TREE / "lib/rocblas/library/Kernels_gfx942.co").read_bytes() == b"gfx942"


def test_a_damaged_core_is_named(site: Path) -> None:
    (site / "_rocm_sdk_core/bin/hipcc").unlink()
    with pytest.raises(
        DevelError, match=r"rocm-sdk-core 7\.10\.0\.dev0 lacks _rocm_sdk_core/bin/hipcc.*force-reinstall"
    ):
        devel_root()
    assert not (site / TREE).exists()


def test_trees_with_other_names(
    install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.dumps(distributions("split")).replace("_rocm_sdk_core", "_rocm_sdk_core_n1").replace(TREE, TREE + "_n1")
    known = parse_distributions(text)
    sdk = copy_index(split_sdk, tmp_path / "nonce")
    archive = DevelArchive().link(f"{TREE}_n1/bin/hipcc", "../../_rocm_sdk_core_n1/bin/hipcc")
    write_devel(sdk.index, sdk.version, archive.data())
    site = install(sdk)
    (site / "_rocm_sdk_core").rename(site / "_rocm_sdk_core_n1")
    monkeypatch.setattr(layout, "load_distributions", lambda: known)
    assert devel_root() == site / f"{TREE}_n1"
    assert (site / f"{TREE}_n1/bin/hipcc").samefile(site / "_rocm_sdk_core_n1/bin/hipcc")
    assert (site / f"{TREE}_n1/lib/libhipblas.so.2").exists() is False
    assert (site / f"{TREE}_n1/lib/rocblas/library/Kernels_gfx942.co").exists()


def test_device_package_of_another_version_is_not_linked(
    install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path
) -> None:
    other = make_sdk(tmp_path / "other", layout="split", version="7.9")
    site = install(split_sdk, "rocm_sdk_core", "rocm_sdk_devel", "rocm_sdk_libraries")
    install(other, "rocm_sdk_device_gfx942")
    devel_root()
    assert not (site / TREE / "lib/rocblas").exists()


def test_a_directory_that_an_installer_left_is_no_target_of_a_link(
    install: Callable[..., Path], split_sdk: FakeSdk
) -> None:
    """Another version had a directory at the path of a library whose package is not installed."""
    site = install(split_sdk, "rocm_sdk_core", "rocm_sdk_devel")
    (site / "_rocm_sdk_libraries/lib/libhipblas.so.2").mkdir(parents=True)
    devel_root()
    assert not os.path.lexists(site / TREE / "lib/libhipblas.so.2")
    assert not os.path.lexists(site / TREE / "lib/libhipblas.so")


def refuse_to_write(*_: object) -> None:
    raise OSError(30, "Read-only file system")


def test_read_only_is_an_error_before_and_a_warning_after(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "exclusive_lock", refuse_to_write)
    with pytest.raises(DevelReadOnlyError, match=r"cannot be written \(.*Read-only.*\)\. Run `rocm-sdk init` once"):
        devel_root()
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(layout, "load_distributions", lambda: parse_distributions(json.dumps(distributions("split"))))
    devel_root()
    monkeypatch.setattr(expand, "exclusive_lock", refuse_to_write)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        devel_root()
        devel_root(verify=True)
    shutil.rmtree(site / "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info")
    with pytest.warns(RuntimeWarning, match="the development tree is not up to date: .* cannot be written"):
        assert devel_root() == site / TREE


@pytest.mark.parametrize("module", [files, links, expand])
def test_a_full_disk_leaves_nothing(site: Path, monkeypatch: pytest.MonkeyPatch, module: object) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    function = {files: "write_file", links: "_link", expand: "write_state"}[module]  # type: ignore[index]
    before = {path: path.stat().st_size for path in site.rglob("*") if path.name != "RECORD"}
    with monkeypatch.context() as patch:
        patch.setattr(module, function, full)
        with pytest.raises(DevelError, match=r"not enough space for the development tree .* Free some and run"):
            devel_root()
    assert {path: path.stat().st_size for path in site.rglob("*") if path.name != "RECORD"} == before
    assert recorded(site) == set()
    devel_root()
