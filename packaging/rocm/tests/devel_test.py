"""The development tree in a directory laid out like site-packages: its links, what is refused, and what is kept.

Installation and uninstallation with real installers are in `install_test` and `upgrade_test`.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from devel_mounts import in_own_mounts, make_read_only, mount_memory, mount_overlay
from fake_sdk import Devel, FakeSdk, copy_index, links_manifest, make_sdk, small_devel, write_devel
from rocm_sdk import devel, installation
from rocm_sdk.devel import devel_root, find_layout
from rocm_sdk.devel_tree import DevelTree, DevelTreeError
from rocm_sdk.errors import DevelError, DevelReadOnlyError
from trees import TREE, own_files, recorded, tree_of

INFO = "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info"
DEVICE = "_rocm_sdk_libraries/.devel_links/rocm-sdk-device-gfx942.json"
MANIFEST = "rocm_sdk_devel/.devel_links/devel.json"
STATE = "rocm_sdk_devel/.devel_links/devel.state"


@pytest.fixture(params=["", "_devel.tar"], ids=["files", "tar"])
def any_site(request: pytest.FixtureRequest, install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path) -> Path:
    """Return an installation whose devel package has files, or an archive of them."""
    sdk = copy_index(split_sdk, tmp_path / "archived")
    write_devel(sdk.index, sdk.version, small_devel("split", request.param))
    return install(sdk)


def inodes(site: Path) -> dict[Path, tuple[int, int]]:
    """Return the number and the time of each file."""
    return {path: (path.lstat().st_ino, path.lstat().st_mtime_ns) for path in site.rglob("*") if not path.is_dir()}


def test_links_are_made_and_listed(any_site: Path) -> None:
    site = any_site
    assert devel_root() == site / TREE
    tree = site / TREE
    assert tree_of(site)[f"{TREE}/include/hip.h"] == "644 b'// hip\\n'"
    assert tree_of(site)[f"{TREE}/bin/tool.sh"].startswith("755 ")
    assert tree_of(site)[f"{TREE}/llvm"] == "-> lib/llvm"
    assert tree_of(site)[f"{TREE}/bin/hipcc-7"] == "-> hipcc"
    assert (tree / "bin/hipcc").samefile(site / "_rocm_sdk_core/bin/hipcc")
    assert not (tree / "bin/hipcc").is_symlink()
    assert (tree / ".kpack/blas_lib_gfx942.kpack").samefile(site / "_rocm_sdk_libraries/.kpack/blas_lib_gfx942.kpack")
    assert own_files(site) <= recorded(site)
    assert all(os.path.lexists(site / path) for path in recorded(site))
    assert find_layout().faults() == []
    assert find_layout().is_ready


def test_archive_and_files_give_one_tree(any_site: Path, install: Callable[..., Path], split_sdk: FakeSdk) -> None:
    devel_root()
    made = tree_of(any_site)
    shutil.rmtree(any_site)
    install(split_sdk)
    devel_root()
    assert tree_of(any_site) == made


def test_the_second_call_changes_nothing(any_site: Path) -> None:
    devel_root()
    before = inodes(any_site)
    for verify in (False, True):
        devel_root(verify=verify)
        assert inodes(any_site) == before


def test_times_do_not_count(site: Path) -> None:
    """Images, tar and rsync cut them to seconds."""
    devel_root()
    for path in site.rglob("*"):
        os.utime(path, (1e9, 1e9), follow_symlinks=False)
    before = inodes(site)
    devel_root()
    assert find_layout().is_ready
    assert inodes(site) == before


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_umask_does_not_count(any_site: Path, umask: int) -> None:
    """Another user reads what root made."""
    before = os.umask(umask)
    try:
        devel_root()
    finally:
        os.umask(before)
    made = [path for path in (any_site / TREE).rglob("*") if path.is_dir() and not path.is_symlink()]
    assert {path.stat().st_mode & 0o777 for path in made} == {(any_site).stat().st_mode & 0o777}
    assert {(any_site / path).stat().st_mode & 0o444 for path in (STATE, f"{TREE}/include/hip.h")} == {0o444}
    assert (any_site / "rocm_sdk_devel-7.10.0.dev0.dist-info/RECORD").stat().st_mode & 0o777 == 0o644


# What comes, goes and changes


def forget(site: Path, *paths: str) -> None:
    for path in paths:
        shutil.rmtree(site / path) if (site / path).is_dir() else (site / path).unlink()


def test_packages_come_and_go(install: Callable[..., Path], split_sdk: FakeSdk) -> None:
    site = install(split_sdk, "rocm_sdk_core", "rocm_sdk_devel")
    devel_root()
    lib = site / TREE / "lib"
    assert not os.path.lexists(lib / "libhipblas.so")
    alone = tree_of(site)
    install(split_sdk, "rocm_sdk_libraries", "rocm_sdk_device_gfx942")
    assert not find_layout().is_ready
    devel_root()
    assert (lib / "libhipblas.so").samefile(site / "_rocm_sdk_libraries/lib/libhipblas.so.2")
    assert (lib / "rocblas/library/Kernels_gfx942.co").read_bytes() == b"gfx942"
    forget(site, "_rocm_sdk_libraries", *(f"{one.name}" for one in site.glob("rocm_sdk_libraries*")))
    devel_root()
    assert tree_of(site) == alone
    assert recorded(site) == own_files(site)


def test_a_package_that_was_installed_again_is_linked_again(site: Path) -> None:
    """Otherwise a process could have two copies of one library."""
    devel_root()
    shutil.copytree(site / "_rocm_sdk_core", site / "new")
    shutil.rmtree(site / "_rocm_sdk_core")
    (site / "new").rename(site / "_rocm_sdk_core")
    assert devel_root() == site / TREE
    assert (site / TREE / "lib/libamdhip64.so.5").samefile(site / "_rocm_sdk_core/lib/libamdhip64.so.5")


def test_another_file_of_the_same_size_and_time_is_no_link(site: Path, tmp_path: Path) -> None:
    """An installer that hard-links from its cache leaves two libraries with two names each; it linked one before."""
    devel_root()
    library, source = site / TREE / "lib/libamdhip64.so.5", site / "_rocm_sdk_core/lib/libamdhip64.so.5"
    status = source.stat()
    library.unlink()
    library.write_bytes(source.read_bytes()[::-1])
    library.chmod(status.st_mode)
    os.utime(library, ns=(status.st_mtime_ns, status.st_mtime_ns))
    for number, path in enumerate((library, source)):
        (tmp_path / f"cached{number}").hardlink_to(path)
        time.sleep(0.05)  # More than a tick of the kernel's clock.
    assert "is a second copy of" in "".join(find_layout().faults())
    assert not find_layout().is_ready


def test_a_program_is_no_symbolic_link_and_a_header_may_be_one(site: Path) -> None:
    """Programs find their files by their own place: they would find the runtime package's."""
    devel_root()
    for name in ("bin/hipcc", "lib/libamdhip64.so.5"):
        (site / TREE / name).unlink()
        (site / TREE / name).symlink_to(site / "_rocm_sdk_core" / name)
    assert [fault.partition(" is a second copy of ")[0] for fault in find_layout().faults()] == [f"{TREE}/bin/hipcc"]


def test_a_half_removed_package_is_installed_again_by_force(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its metadata is still there, and `pip install` would do nothing."""
    monkeypatch.setattr(installation, "__file__", str(site / "rocm_sdk/installation.py"))
    shutil.rmtree(site / "rocm_sdk_devel")
    with pytest.raises(DevelError, match=r"rocm-sdk-devel is not installed\. It is half removed: .* Reinstall it: "):
        find_layout()
    for dist_info in site.glob("rocm_sdk_devel-*.dist-info"):
        shutil.rmtree(dist_info)
    with pytest.raises(DevelError, match=r"rocm-sdk-devel is not installed\. Install it: "):
        find_layout()


def test_a_namespace_package_is_no_devel_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "left_over" / "empty").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert devel._find_package("left_over") is None
    assert devel._find_package("no_such_package") is None


def test_links_that_became_copies_are_made_again(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when an environment is copied, or an image's later layer has them."""
    devel_root()
    copy = tmp_path / "copy"
    shutil.copytree(site, copy, symlinks=True)
    monkeypatch.syspath_prepend(str(copy))
    importlib.invalidate_caches()
    library = copy / TREE / "lib/libamdhip64.so.5"
    assert f"{TREE}/lib/libamdhip64.so.5 is a second copy of _rocm_sdk_core" in "".join(find_layout().faults())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert devel_root() == copy / TREE
    assert library.samefile(copy / "_rocm_sdk_core/lib/libamdhip64.so.5")
    assert find_layout().faults() == []


def test_a_lost_link_comes_back_with_verify(any_site: Path) -> None:
    devel_root()
    whole = tree_of(any_site)
    for lost in ("bin/hipcc", "lib/libamdhip64.so", "lib/rocblas/library/Kernels_gfx942.co"):
        (any_site / TREE / lost).unlink()
        assert find_layout().faults() == [f"{TREE}/{lost} is missing"]
        devel_root(verify=True)
        assert tree_of(any_site) == whole


def test_a_lost_file_is_named_with_the_remedy(site: Path) -> None:
    devel_root()
    (site / TREE / "include/hip.h").unlink()
    with pytest.raises(DevelError, match=r"hip\.h is missing\. Reinstall it: pip install .* rocm-sdk-devel==7\.10"):
        devel_root(verify=True)


@pytest.mark.parametrize("path", [MANIFEST, DEVICE])
@pytest.mark.parametrize(
    "text", ["", "null", "[]", "text", '{"version": "1"}', '{"version":"7.10.0.dev0","links":[null]}']
)
def test_a_damaged_manifest_is_one_sentence(site: Path, path: str, text: str) -> None:
    (site / path).write_text(text)
    name = "rocm-sdk-devel" if path == MANIFEST else "rocm-sdk-device-gfx942"
    for verify in (False, True):
        with pytest.raises(DevelError, match=rf"is damaged .*Reinstall it: pip install .* {name}==7\.10\.0\.dev0$"):
            devel_root(verify=verify)


@pytest.mark.parametrize("text", ["", "null", "[]", "text", "{}\n{}", "{}\n[]\n", '{"format": 1}\nnull\n', "\xff"])
def test_a_damaged_state_is_written_again(site: Path, text: str) -> None:
    devel_root()
    whole, rows = tree_of(site), recorded(site)
    (site / STATE).write_text(text)
    devel_root()
    assert (tree_of(site), recorded(site)) == (whole, rows)
    assert find_layout().is_ready


BAD_LINKS = {
    "absolute": ("lib/x", "/etc/passwd"),
    "above site-packages": ("lib/x", "../../../x"),
    "parent": ("../x", "x"),
    "parent at the end": ("lib/..", "x"),
    "double slash": ("lib//x", "x"),
}


@pytest.mark.parametrize("kind", BAD_LINKS)
def test_links_that_lead_out_are_refused(site: Path, kind: str) -> None:
    (site / MANIFEST).write_bytes(links_manifest("7.10.0.dev0", dict([BAD_LINKS[kind]]), tree=TREE))
    before = tree_of(site)
    with pytest.raises(DevelError, match="is damaged"):
        devel_root()
    assert tree_of(site) == before


BREAKS: dict[str, Callable[[bytes], bytes]] = {
    "in a header": lambda data: data[:700],
    "in a file": lambda data: data[: data.index(b"// hip") + 3],
    "no tar": lambda _: b"no tar at all",
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("kind", [*BREAKS, "missing"])
def test_a_broken_archive_says_what_to_do(
    install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path, kind: str
) -> None:
    sdk = copy_index(split_sdk, tmp_path / "archived")
    write_devel(sdk.index, sdk.version, small_devel("split", "_devel.tar"))
    archive = install(sdk) / "rocm_sdk_devel/_devel.tar"
    data = archive.read_bytes()
    archive.unlink()
    if kind != "missing":
        archive.write_bytes(BREAKS[kind](data))
    with pytest.raises(DevelError, match=r"missing or broken .*--force-reinstall --no-deps rocm-sdk-devel==7\.10"):
        devel_root()
    archive.write_bytes(data)
    devel_root()
    archive.unlink()  # It may be removed now.
    devel_root(verify=True)
    assert find_layout().faults() == []


def test_a_damaged_core_is_named(site: Path) -> None:
    (site / "_rocm_sdk_core/bin/hipcc").unlink()
    with pytest.raises(DevelError, match=r"core/bin/hipcc is missing.*--no-deps rocm-sdk-core==7\.10\.0\.dev0"):
        devel_root()


def test_another_version_is_refused(install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path) -> None:
    """As of another directory on the search path, with a newer `rocm`."""
    other = make_sdk(tmp_path / "other", layout="split", version="7.9")
    install(split_sdk, "rocm_sdk_core", "rocm_sdk_libraries")
    install(other, "rocm_sdk_devel")
    with pytest.raises(DevelError, match=r"rocm-sdk-devel in .* is 7\.9, and rocm is 7\.10\.0\.dev0; expected one"):
        devel_root()


def test_a_device_package_of_another_version_is_not_linked(
    install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path
) -> None:
    other = make_sdk(tmp_path / "other", layout="split", version="7.9")
    site = install(split_sdk, "rocm_sdk_core", "rocm_sdk_devel", "rocm_sdk_libraries")
    install(other, "rocm_sdk_device_gfx942")
    devel_root()
    assert not (site / TREE / "lib/rocblas").exists()


def test_one_sites_links_do_not_need_another_packages_directory(
    install: Callable[..., Path], split_sdk: FakeSdk
) -> None:
    """Another version had a directory at the path of a library whose package is not installed."""
    site = install(split_sdk, "rocm_sdk_core", "rocm_sdk_devel")
    (site / "_rocm_sdk_libraries/lib").mkdir(parents=True)
    devel_root()
    assert not os.path.lexists(site / TREE / "lib/libhipblas.so")


def test_manifests_of_amd(site: Path) -> None:
    """They name no tree, seven names in `bin` stay symbolic, and what theirs made counts."""
    links = {
        "bin/amdclang": "../../_rocm_sdk_core/bin/hipcc",
        "bin/hipcc": "../../_rocm_sdk_core/bin/hipcc",
        "lib/libhip.so": "libhip.so.1",
        "lib/libhip.so.1": "../../_rocm_sdk_core/lib/libamdhip64.so.5",
        "lib/libhipblas.so.2": "../../_rocm_sdk_libraries/lib/libhipblas.so.2",
        "llvm": "lib",
    }
    (site / MANIFEST).write_bytes(links_manifest("7.10.0.dev0", links))
    journal = "rocm_sdk_devel/.devel_links/devel.journal"
    (site / journal).unlink()
    record = site / "rocm_sdk_devel-7.10.0.dev0.dist-info/RECORD"
    record.write_text("".join(line for line in record.read_text().splitlines(True) if not line.startswith(journal)))
    tree = site / TREE
    for name in ("libhip.so", "libhip.so.1"):
        (tree / "lib" / name).hardlink_to(site / "_rocm_sdk_core/lib/libamdhip64.so.5")
    devel_root()
    assert str((tree / "bin/amdclang").readlink()) == "../../_rocm_sdk_core/bin/hipcc"
    assert (tree / "bin/hipcc").samefile(site / "_rocm_sdk_core/bin/hipcc")
    assert not (tree / "bin/hipcc").is_symlink()
    assert not (tree / "lib/libhip.so").is_symlink()
    assert (tree / "llvm").is_symlink()
    assert (tree / "lib/rocblas/library/Kernels_gfx942.co").exists()
    assert not (site / journal).exists()


def test_a_devel_package_without_manifest_is_refused(site: Path) -> None:
    """AMD's until the summer of 2026 has an archive alone."""
    (site / MANIFEST).unlink()
    with pytest.raises(DevelError, match=r"devel\.json is missing"):
        devel_root()


# Where there can be no hard link, or nothing can be written

REFUSALS = (errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS)


@pytest.mark.parametrize("number", REFUSALS, ids=[errno.errorcode[number] for number in REFUSALS])
def test_without_hard_links(site: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", refuse)
        tree = devel_root()
        devel_root(verify=True)
    assert str((tree / "lib/libamdhip64.so.5").readlink()) == "../../_rocm_sdk_core/lib/libamdhip64.so.5"
    # A program finds its neighbours by where its file is.
    program, source = tree / "bin/hipcc", site / "_rocm_sdk_core/bin/hipcc"
    assert not program.is_symlink()
    assert (program.read_bytes(), program.stat().st_mode) == (source.read_bytes(), source.stat().st_mode)
    assert find_layout().faults() == []
    assert find_layout().is_ready


def test_another_error_is_no_reason_for_a_symbolic_link(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(DevelError, match=r"could not be made.*Input/output error"):
        devel_root()


def test_links_to_an_installers_cache(site: Path, tmp_path: Path) -> None:
    """`uv pip install --link-mode symlink`: programs run from the tree, and the cache stays as it is."""
    cache = tmp_path / "cache"
    for path in [path for path in site.rglob("*") if path.is_file()]:
        place = cache / path.relative_to(site)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.rename(place)
        path.symlink_to(place)
    before = {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}
    tree = devel_root()
    for program in ("bin/hipcc", "bin/tool.sh"):
        said = subprocess.run([tree / program], capture_output=True, text=True, check=True).stdout
        assert Path(said.split()[0]).resolve() == tree / program
    assert (tree / "lib/libamdhip64.so.5").samefile(cache / "_rocm_sdk_core/lib/libamdhip64.so.5")
    assert find_layout().faults() == []
    assert find_layout().is_ready
    assert {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()} == before


def test_nothing_installed_is_written_in_place(site: Path, tmp_path: Path) -> None:
    """Uv and conda link files from caches."""
    cached = {path: tmp_path / f"cached{number}" for number, path in enumerate(site.rglob("*")) if path.is_file()}
    for path, other in cached.items():
        other.hardlink_to(path)
    before = {other: other.read_bytes() for other in cached.values()}
    devel_root()
    forget(site, DEVICE)
    devel_root()
    assert {other: other.read_bytes() for other in cached.values()} == before


def test_read_only(site: Path) -> None:
    def check() -> None:
        mount_memory(site, size=16 << 20)
        make_read_only(site)
        with pytest.raises(DevelReadOnlyError, match=r"has to be made \(.*Read-only.*Run `rocm-sdk init` as a user"):
            devel_root()
        make_read_only(site, read_only=False)
        devel_root()
        make_read_only(site)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert devel_root() == devel_root(verify=True) == site / TREE
        make_read_only(site, read_only=False)
        (site / STATE).unlink()  # Complete, though nobody says so.
        make_read_only(site)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert devel_root() == devel_root(verify=True) == site / TREE

    in_own_mounts(check)


def test_read_only_and_not_up_to_date(install: Callable[..., Path], split_sdk: FakeSdk) -> None:
    site = install(split_sdk, "rocm_sdk_core", "rocm_sdk_devel", "rocm_sdk_libraries")

    def check() -> None:
        mount_memory(site, size=16 << 20)
        devel_root()
        install(split_sdk, "rocm_sdk_device_gfx942")
        make_read_only(site)
        with pytest.warns(RuntimeWarning, match=r"\(2 in all\), and this user cannot: .*Run `rocm-sdk init`"):
            assert devel_root() == site / TREE

    in_own_mounts(check)


def test_a_full_disk_is_one_sentence_and_the_next_call_does_the_rest(any_site: Path) -> None:
    def check() -> None:
        mount_memory(any_site, size=16 << 20)
        failures = 0
        for free in range(0, 12, 2):
            status = os.statvfs(any_site)
            (any_site / "filler").write_bytes(bytes((status.f_bavail - free) * status.f_frsize))
            said = ""
            try:
                devel_root()
            except DevelError as error:
                failures, said = failures + 1, str(error)
            assert not said or "there is not enough space for it: " in said
            (any_site / "filler").unlink()
        devel_root()
        assert find_layout().faults() == []
        assert failures

    in_own_mounts(check)


@pytest.mark.parametrize("upper", ["same", "other"])
def test_on_an_overlay(site: Path, tmp_path: Path, upper: str) -> None:
    """Where the upper layer is another file system, one file can have two numbers."""

    def check() -> None:
        mount_overlay(site, tmp_path / "layers", memory=upper == "other")
        for _ in range(2):
            devel_root()
            devel_root(verify=True)
            assert find_layout().faults() == []
            assert find_layout().is_ready

    in_own_mounts(check)


# What is the user's


def warned(verify: bool = True) -> None:
    with pytest.warns(RuntimeWarning, match=r"have another name now, for one .*\.kept"):
        devel_root(verify=verify)


@pytest.mark.parametrize("path", ["bin/hipcc", "lib/libamdhip64.so"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("kind", ["file", "directory", "link"])
def test_what_is_in_the_place_of_a_link_is_kept(site: Path, path: str, before: bool, kind: str) -> None:
    if not before:
        devel_root()
        (site / TREE / path).unlink()
    place = site / TREE / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        place.write_text("mine\n")
    elif kind == "link":
        place.symlink_to("../include/mine")
    else:
        (place / "below").mkdir(parents=True)
        (place / "below/mine.txt").write_text("mine\n")
    warned()
    kept = place.with_name(f"{place.name}.kept")
    assert kept.is_symlink() or (kept / "below/mine.txt" if kind == "directory" else kept).read_text() == "mine\n"
    assert kept.relative_to(site).as_posix() not in recorded(site)
    assert find_layout().faults() == []
    if before:
        return
    place.unlink()
    place.write_text("mine, once more\n")
    warned()
    assert place.with_name(f"{place.name}.kept2").read_text() == "mine, once more\n"


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_in_the_place_of_a_directory_is_kept(any_site: Path, kind: str) -> None:
    place = any_site / TREE / "lib/rocblas"
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        place.write_text("mine\n")
    else:
        place.symlink_to("../../mine")
    warned(verify=False)
    assert (place / "library/Kernels_gfx942.co").exists()
    assert place.with_name("rocblas.kept").is_symlink() or place.with_name("rocblas.kept").read_text() == "mine\n"


@pytest.mark.parametrize("kind", ["file", "directory", "link"])
def test_what_is_in_the_place_of_an_archived_file_is_kept(
    install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path, kind: str
) -> None:
    sdk = copy_index(split_sdk, tmp_path / "archived")
    write_devel(sdk.index, sdk.version, small_devel("split", "_devel.tar"))
    place = install(sdk) / TREE / "include/hip.h"
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        place.write_text("mine\n")
    elif kind == "link":
        place.symlink_to("mine")
    else:
        place.mkdir()
        (place / "mine.txt").write_text("mine\n")
    warned(verify=False)
    assert place.read_text() == "// hip\n"
    kept = place.with_name("hip.h.kept")
    assert kept.is_symlink() or (kept / "mine.txt" if kind == "directory" else kept).read_text() == "mine\n"


def test_an_empty_directory_in_the_place_of_a_link_goes(site: Path) -> None:
    (site / TREE / "llvm/left").mkdir(parents=True)
    devel_root()
    assert (site / TREE / "llvm").is_symlink()


def test_what_took_the_place_of_a_link_that_goes_stays(site: Path) -> None:
    devel_root()
    mine = site / TREE / "lib/rocblas/library/Kernels_gfx942.co"
    mine.unlink()
    mine.write_text("mine\n")
    forget(site, DEVICE)
    devel_root()
    assert mine.read_text() == "mine\n"
    assert mine.relative_to(site).as_posix() not in recorded(site)


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127])
def test_the_longest_names_are_cut(site: Path, name: str) -> None:
    (site / MANIFEST).write_bytes(links_manifest("7.10.0.dev0", {name: "include"}, tree=TREE))
    (site / TREE / name).write_text("mine")
    warned()
    assert [path.read_text() for path in (site / TREE).glob("*.kept")] == ["mine"]


def test_files_of_the_user_are_named(site: Path) -> None:
    devel_root()
    assert find_layout().tree.user_files() == []
    (site / TREE / "lib/cmake/mine").mkdir()
    (site / TREE / "lib/cmake/mine/mine.cmake").touch()
    (site / TREE / "lib/more").symlink_to("cmake")
    (site / TREE / "lib/__pycache__").mkdir()
    (site / TREE / "lib/__pycache__/x.pyc").touch()
    assert find_layout().tree.user_files() == [f"{TREE}/lib/cmake/mine/mine.cmake", f"{TREE}/lib/more"]
    assert find_layout().faults() == []


def test_a_link_that_leads_somewhere_since_is_no_fault(site: Path) -> None:
    (site / MANIFEST).write_bytes(links_manifest("7.10.0.dev0", {"lib64": "own"}, tree=TREE))
    devel_root()
    assert not os.path.lexists(site / TREE / "lib64")
    (site / TREE / "own").mkdir()
    (site / TREE / "own/mine").touch()
    assert find_layout().faults() == []
    devel_root(verify=True)
    assert (site / TREE / "lib64/mine").is_file()


def test_a_users_link_to_the_same_directory_will_do(site: Path) -> None:
    devel_root()
    (site / TREE / "llvm").unlink()
    (site / TREE / "llvm").symlink_to("./lib/../lib/llvm")
    devel_root(verify=True)
    assert (site / TREE / "llvm").samefile(site / TREE / "lib/llvm")
    assert find_layout().faults() == []


def test_a_users_link_in_place_of_a_file_stays(site: Path) -> None:
    devel_root()
    (site / TREE / "bin/tool.sh").unlink()
    (site / TREE / "bin/tool.sh").symlink_to("hipcc")
    devel_root(verify=True)
    assert str((site / TREE / "bin/tool.sh").readlink()) == "hipcc"


# Console scripts

TOLD = """
import sys
sys.path[:0] = sys.argv[1:]
import rocm_sdk.devel
before = set(sys.modules)
print(rocm_sdk.devel.root_at_a_glance())
print(sorted(set(sys.modules) - before))
"""
GLANCES: dict[str, tuple[Callable[[Path], object], bool]] = {
    "as it was made": (lambda site: None, True),
    "not made": (lambda site: (site / STATE).unlink(), False),
    "changing": (lambda site: (site / STATE).write_text("{}\n{}\n"), False),
    "state cut off": (lambda site: (site / STATE).write_text('{"format":['), False),
    "device package removed": (lambda site: (site / DEVICE).unlink(), False),
    "device package added": (lambda site: (site / DEVICE).with_name("x.json").write_text("{}"), False),
    "libraries removed": (lambda site: (site / "_rocm_sdk_libraries/lib/libhipblas.so.2").unlink(), False),
    "core installed again": (
        lambda site: shutil.copy(
            shutil.move(site / "_rocm_sdk_core/lib/libamdhip64.so.5", site / "x"),
            site / "_rocm_sdk_core/lib/libamdhip64.so.5",
        ),
        False,
    ),
    "links deleted": (lambda site: shutil.rmtree(site / TREE), False),
    "rocm of another version": (
        lambda site: (site / "rocm_sdk/_distributions.json").write_text(
            (site / "rocm_sdk/_distributions.json").read_text().replace("7.10.0.dev0", "7.11")
        ),
        False,
    ),
}


@pytest.mark.parametrize("state", GLANCES)
def test_a_glance(site: Path, state: str) -> None:
    from fake_sdk import distributions, sdk_source

    shutil.copytree(sdk_source(), site / "rocm_sdk", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "rocm_sdk/_distributions.json").write_text(json.dumps(distributions("split")))
    devel_root()
    change, is_told = GLANCES[state]
    change(site)
    command = [sys.executable, "-I", "-S", "-B", "-c", TOLD, str(site)]
    root, loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert root == (str(site / TREE) if is_told else "None")
    assert loaded in ("[]", "['_json']")


def test_of_several_families_the_preferred_ones_files_count(
    install: Callable[..., Path], family_sdk: FakeSdk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fake_sdk import distributions
    from rocm_sdk import distributions as known_distributions
    from rocm_sdk.distributions import parse_distributions

    known = parse_distributions(json.dumps(distributions("family")))
    monkeypatch.setattr(known_distributions, "load_distributions", lambda: known)
    names = ("rocm_sdk_libraries_gfx110X_all", "rocm_sdk_libraries_gfx94X_dcgpu")
    site = install(family_sdk, "rocm_sdk_core", "rocm_sdk_devel", *names)
    library = site / TREE / "lib/libhipblas.so.2"
    for target, name in (("gfx1100", names[0]), ("gfx942", names[1]), ("gfx1100", names[0])):
        monkeypatch.setenv("ROCM_SDK_TARGET_FAMILY", target)
        devel_root()
        assert library.samefile(site / f"_{name}/lib/libhipblas.so.2")
        assert find_layout().is_ready
    assert own_files(site) <= recorded(site)


def test_another_sdk(tmp_path: Path) -> None:
    """The same file as the module of a devel package, with a package per CPU."""
    from fake_sdk import PACKAGES, target_manifest, write_wheel

    site, index = tmp_path / "site", tmp_path / "index"
    index.mkdir()
    module = (PACKAGES.parent / "rules/runtime/devel_tree.py").read_bytes()
    devel = Devel({"include/mkl.h": b"//"}, {"lib/libmkl.so": "libmkl.so.2"}, tree="_mkl_devel")
    files = {"mkl_devel/__init__.py": module, **devel.members("1.0", "mkl_devel", ("_mkl_avx2", "_mkl_avx512"))}
    cpu = {"_mkl_avx512/lib/libmkl.so.2": b"avx512"}
    wheels = [
        write_wheel(index, "mkl-devel", "1.0", files),
        write_wheel(index, "mkl-avx512", "1.0.post1", {**cpu, **target_manifest("1.0.post1", "mkl-avx512", cpu)}),
    ]
    for wheel in wheels:
        shutil.unpack_archive(wheel, site, "zip")
    code = "import mkl_devel; print(mkl_devel.root())"
    environment = {"PYTHONPATH": str(site), "PATH": os.defpath}
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert (run.stdout, run.stderr) == (f"{site}/_mkl_devel\n", "")
        assert (site / "_mkl_devel/lib/libmkl.so").read_bytes() == b"avx512"


@pytest.fixture
def windows_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], DevelTree]:
    """Return what installs a devel package with links, beside a package with a program, as Windows has them."""
    from fake_sdk import write_wheel

    monkeypatch.setattr("rocm_sdk.devel_tree._IS_WINDOWS", True)
    site, index = tmp_path / "site", tmp_path / "index"
    index.mkdir()

    def install(links: dict[str, str]) -> DevelTree:
        files = Devel({"include/x.h": b"//"}, links, tree="_x_devel").members("1.0", "x_devel", ("_x",))
        for wheel in (
            write_wheel(index, "x-devel", "1.0", files),
            write_wheel(index, "x", "1.0", {"_x/bin/clang.exe": b"MZ"}),
        ):
            shutil.unpack_archive(wheel, site, "zip")
        return DevelTree(str(site / "x_devel"), command="init", tree="_x_devel")

    return install


def test_on_windows_a_link_to_a_later_link_is_made(windows_tree: Callable[[dict[str, str]], DevelTree]) -> None:
    """All links are hard ones there; they are made in the order of their names."""
    root = Path(
        windows_tree({"bin/amdclang.exe": "../lib/clang.exe", "lib/clang.exe": "../../_x/bin/clang.exe"}).root()
    )
    for path in ("bin/amdclang.exe", "lib/clang.exe"):
        assert (root / path).samefile(root.parent / "_x/bin/clang.exe")
        assert not (root / path).is_symlink()


def test_on_windows_a_circle_of_links_is_an_error(windows_tree: Callable[[dict[str, str]], DevelTree]) -> None:
    with pytest.raises(DevelTreeError, match=r"_x_devel: it could not be made: .*run `init`"):
        windows_tree({"bin/a.exe": "b.exe", "bin/b.exe": "a.exe"}).root()
