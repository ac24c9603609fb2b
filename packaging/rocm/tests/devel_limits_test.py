"""Making the development tree on real file systems: full, read-only, or another one than site-packages is on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from devel_mounts import in_own_mounts, make_read_only, mount_memory
from fake_sdk import DevelArchive, FakeSdk, copy_index, write_devel
from rocm_sdk.devel import devel_root, expand
from rocm_sdk.devel.inspect import find_faults
from rocm_sdk.devel.layout import ROOT_VARIABLE
from rocm_sdk.errors import DevelError, DevelReadOnlyError
from rocm_sdk.record import Row, read_record
from trees import TREE, recorded, tree_of

MEGABYTE = 1 << 20
BLOCK = 4096
RECORD = "rocm_sdk_devel-7.10.0.dev0.dist-info/RECORD"
# Makes a directory's file system have only so much of something left.
Limit = Callable[[Path, int], AbstractContextManager[None]]


@pytest.fixture
def large_site(install: Callable[..., Path], split_sdk: FakeSdk, tmp_path: Path) -> Path:
    """Return an installation whose tree takes half a megabyte, in 60 files."""
    sdk = copy_index(split_sdk, tmp_path / "large")
    archive = DevelArchive().link(f"{TREE}/bin/hipcc", "../../_rocm_sdk_core/bin/hipcc")
    for number in range(60):
        archive.file(f"{TREE}/include/part{number // 10}/header{number}.h", bytes([number]) * 9000)
    archive.link(f"{TREE}/headers", "include")
    write_devel(sdk.index, sdk.version, archive.data())
    return install(sdk)


@contextmanager
def filled(directory: Path, free: int) -> Iterator[None]:
    """Have only `free` bytes left on a file system."""
    status = os.statvfs(directory)
    filler = directory / "filler"
    filler.write_bytes(bytes(status.f_bavail * status.f_frsize - free))
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def without_inodes(directory: Path, free: int) -> Iterator[None]:
    """Have only `free` inodes left on a file system."""
    fillers = [directory / f"filler{number}" for number in range(os.statvfs(directory).f_favail - free)]
    for filler in fillers:
        filler.touch()
    try:
        yield
    finally:
        for filler in fillers:
            filler.unlink()


def everything(site: Path) -> dict[str, bytes]:
    """Return all files of site-packages but fillers, with contents; RECORD's as rows, however its lines end."""
    files = {path for path in site.rglob("*") if not path.is_dir() and not path.name.startswith("filler")}
    contents = {path.relative_to(site).as_posix(): path.read_bytes() for path in files if path.name != "RECORD"}
    return {**contents, RECORD: repr(read_record(site / RECORD)).encode()}


def error_of_making() -> str:
    """Make the tree and return "", or the text of the error."""
    try:
        devel_root()
    except DevelError as error:
        return str(error)
    return ""


def check_all_amounts(site: Path, limit: Limit, amounts: range) -> None:
    """Try with each amount of what is scarce: an error leaves all as it was, and with enough the tree is made."""
    before, rows = everything(site), (site / RECORD).read_bytes()
    failures = 0
    for amount in amounts:
        with limit(site, amount):
            error = error_of_making()
        if error:
            failures += 1
            assert "not enough space for the development tree" in error, amount
            assert "Free some and run `rocm-sdk init`, or set ROCM_SDK_DEVEL_ROOT" in error, amount
            assert everything(site) == before, amount
        devel_root()
        assert find_faults() == [], amount
        shutil.rmtree(site / TREE)
        (site / RECORD).write_bytes(rows)
    assert 3 < failures < len(amounts)


@pytest.mark.parametrize("foreseen", [True, False])
def test_a_full_disk(large_site: Path, monkeypatch: pytest.MonkeyPatch, foreseen: bool) -> None:
    def check() -> None:
        mount_memory(large_site, size=16 * MEGABYTE)
        check_all_amounts(large_site, filled, range(0, 240 * BLOCK, 7 * BLOCK))

    if not foreseen:
        # As when others fill the disk meanwhile.
        monkeypatch.setattr(expand, "find_lack", lambda *_: "")
    in_own_mounts(check)


@pytest.mark.parametrize("foreseen", [True, False])
def test_a_disk_without_inodes(large_site: Path, monkeypatch: pytest.MonkeyPatch, foreseen: bool) -> None:
    def check() -> None:
        mount_memory(large_site, size=16 * MEGABYTE, inodes=400)
        check_all_amounts(large_site, without_inodes, range(0, 90, 4))

    if not foreseen:
        monkeypatch.setattr(expand, "find_lack", lambda *_: "")
    in_own_mounts(check)


def test_what_is_needed_is_not_overstated(large_site: Path) -> None:
    def check() -> None:
        mount_memory(large_site, size=16 * MEGABYTE)
        before = os.statvfs(large_site).f_bfree
        devel_root()
        used = (before - os.statvfs(large_site).f_bfree) * BLOCK
        shutil.rmtree(large_site / TREE)
        with filled(large_site, used * 5 // 4):
            devel_root()

    in_own_mounts(check)


def test_a_full_disk_while_links_change(site: Path) -> None:
    info = site / "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info"

    def check() -> None:
        mount_memory(site, size=16 * MEGABYTE)
        away = site / "away"
        info.rename(away)
        devel_root()
        for free in range(4):
            away.rename(info)
            with filled(site, free * BLOCK):
                error = error_of_making()
            assert not error or "not enough space" in error, free
            assert tree_of(site)[f"{TREE}/include/hip.h"] == "444 b'// hip\\n'", free
            devel_root()
            assert find_faults() == [], free
            info.rename(away)
            devel_root()

    in_own_mounts(check)


def test_read_only_site_packages(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check() -> None:
        mount_memory(site, size=16 * MEGABYTE)
        before = everything(site)
        make_read_only(site)
        with pytest.raises(DevelReadOnlyError, match=r"Read-only file system.*set ROCM_SDK_DEVEL_ROOT to a directory"):
            devel_root()
        monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / "elsewhere"))
        root = devel_root()
        assert root.is_relative_to(tmp_path / "elsewhere")
        assert (root / "include/hip.h").read_bytes() == b"// hip\n"
        assert find_faults() == []
        monkeypatch.delenv(ROOT_VARIABLE)
        make_read_only(site, read_only=False)
        assert everything(site) == before
        assert devel_root() == site / TREE
        assert find_faults() == []

    in_own_mounts(check)


def test_a_whole_tree_is_used_where_nothing_can_be_written(site: Path) -> None:
    def check() -> None:
        mount_memory(site, size=16 * MEGABYTE)
        devel_root()
        before = everything(site)
        make_read_only(site)
        assert devel_root() == devel_root(verify=True) == site / TREE
        make_read_only(site, read_only=False)
        (site / TREE / "include/hip.h").unlink()
        (site / "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info/RECORD").touch()
        make_read_only(site)
        with pytest.warns(RuntimeWarning, match=r"not up to date: .*Read-only file system"):
            assert devel_root() == site / TREE
        make_read_only(site, read_only=False)
        devel_root(verify=True)
        assert everything(site).keys() == before.keys()

    in_own_mounts(check)


def test_a_tree_on_another_file_system_has_symbolic_links(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check() -> None:
        other = tmp_path / "other"
        other.mkdir()
        mount_memory(other, size=16 * MEGABYTE)
        monkeypatch.setenv(ROOT_VARIABLE, str(other))
        root = devel_root()
        link = root / "lib/libamdhip64.so.5"
        assert str(link.readlink()) == "../../_rocm_sdk_core/lib/libamdhip64.so.5"
        assert link.samefile(site / "_rocm_sdk_core/lib/libamdhip64.so.5")
        assert str((root / "lib/libamdhip64.so").readlink()) == "libamdhip64.so.5"
        assert find_faults() == []
        assert Row(TREE) in read_record(root.parent / "RECORD")

    in_own_mounts(check)


def test_programs_on_another_file_system_are_copies(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`hipconfig --rocmpath` behind a symbolic link says that the runtime package is ROCm, which lacks headers."""

    def check() -> None:
        other = tmp_path / "other"
        other.mkdir()
        mount_memory(other, size=16 * MEGABYTE)
        monkeypatch.setenv(ROOT_VARIABLE, str(other))
        source = site / "_rocm_sdk_core/bin/hipcc"
        source.chmod(0o755)
        program = devel_root() / "bin/hipcc"
        assert not program.is_symlink()
        assert (program.read_bytes(), program.stat().st_mode) == (source.read_bytes(), source.stat().st_mode)
        source.write_bytes(source.read_bytes() + b"# newer\n")
        (site / "rocm_sdk_core-7.10.0.dev0.dist-info/RECORD").touch()
        assert find_faults() == []  # which makes it anew
        assert program.read_bytes().endswith(b"# newer\n")

    in_own_mounts(check)


def test_a_full_disk_elsewhere(large_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check() -> None:
        other = tmp_path / "other"
        other.mkdir()
        mount_memory(other, size=16 * BLOCK)
        monkeypatch.setenv(ROOT_VARIABLE, str(other))
        with pytest.raises(DevelError, match=rf"not enough space for the development tree {other}/rocm_sdk_devel-.*"):
            devel_root()
        assert not list(other.rglob("*.h"))
        monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path / "larger"))
        assert devel_root().is_dir()
        assert recorded(large_site) == set()

    in_own_mounts(check)
