"""Libraries whose device code was split off: where they look for it, and the check that it is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_sdk import FakeSdk, distributions
from rocm_sdk.devel import devel_root
from rocm_sdk.distributions import parse_distributions
from rocm_sdk.installation import installed_packages
from rocm_sdk.kpack import archive_places
from rocm_sdk.selfcheck import FailureError
from rocm_sdk.selfcheck.binaries import check_device_archives
from trees import TREE

from develop.testing.tiny_library import kpack_reference, kpacked, tiny_library

SPLIT = parse_distributions(json.dumps(distributions("split")))
REFERENCE = kpack_reference("libs/hipblas/lib/libhipblas.so.2", "../.kpack/blas_lib_@GFXARCH@.kpack")
LIBRARY = "_rocm_sdk_libraries/lib/libhipblas.so.2"
ARCHIVE = ".kpack/blas_lib_gfx942.kpack"


def write(path: Path, data: bytes) -> Path:
    """Write a file anew: others that are linked to it stay as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    return path


def check() -> str:
    """Run the check on what is installed."""
    return check_device_archives(SPLIT, installed_packages(SPLIT))


def test_where_a_library_looks(tmp_path: Path) -> None:
    library = write(tmp_path / "real/lib/libb.so", kpacked(tiny_library("libb.so"), REFERENCE + bytes(9)))
    link = tmp_path / "libb.so"
    link.symlink_to("real/lib/libb.so")
    for path in (library, link):
        (place,) = archive_places(path)
        assert place.directory == tmp_path / "real/.kpack"
        assert place.names.fullmatch("blas_lib_gfx90a:xnack+.kpack")
        assert not place.names.fullmatch("rand_lib_gfx90a.kpack")


def test_files_without_a_reference(tmp_path: Path) -> None:
    for data in (
        b"",
        b"text",
        tiny_library("libb.so"),
        kpacked(tiny_library(), b"").replace(b"kpack_ref", b"other_ref"),
    ):
        assert archive_places(write(tmp_path / "x", data)) == []


@pytest.mark.parametrize("reference", [b"", b"\xc0", b"\x80", REFERENCE[:30], b"\x81\xb2kpack_search_paths\x05"])
def test_a_damaged_reference(tmp_path: Path, reference: bytes) -> None:
    path = write(tmp_path / "libb.so", kpacked(tiny_library(), reference))
    with pytest.raises(ValueError, match=r"libb\.so: damaged \.rocm_kpack_ref, expected a map with kpack_search_paths"):
        archive_places(path)


def test_damaged_sections(tmp_path: Path) -> None:
    path = write(tmp_path / "libb.so", kpacked(tiny_library(), REFERENCE)[:-9])
    with pytest.raises(ValueError, match=r"libb\.so: damaged ELF file, its sections cannot be read"):
        archive_places(path)


def test_archives_are_found_from_both_trees(install: Callable[..., Path], split_sdk: FakeSdk) -> None:
    site = install(split_sdk)
    devel_root()
    assert check() == "no device code was split off libraries"
    write(site / LIBRARY, kpacked(tiny_library(), REFERENCE))
    devel_root(verify=True)
    assert (site / TREE / "lib/libhipblas.so.2").samefile(site / LIBRARY)
    assert check() == "2 files, 1 archives"
    (site / TREE / ARCHIVE).unlink()
    with pytest.raises(
        FailureError,
        match=rf"1 faults in 2 files, for one: .*/{TREE}/lib/libhipblas.so.2 looks for .*/"
        rf"{TREE}/{ARCHIVE}, which is not there\. Report",
    ):
        check()
    (site / "_rocm_sdk_libraries" / ARCHIVE).unlink()
    with pytest.raises(FailureError, match="2 faults in 2 files"):
        check()


def test_a_library_without_an_archive_is_named(install: Callable[..., Path], split_sdk: FakeSdk) -> None:
    """Not each library has code for each GPU target."""
    site = install(split_sdk)
    write(site / LIBRARY, kpacked(tiny_library(), REFERENCE.replace(b"/blas_", b"/rand_")))
    assert check() == "1 files, 1 archives; no archive is installed for libhipblas.so.2"
