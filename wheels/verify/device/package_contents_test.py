"""Tests of the targets that file names tell."""

import pytest

from wheels.verify.device.package_targets import target_of_database, target_of_name


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("lib/rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a:xnack+"),
        ("lib/rocblas/library/Kernels.so-000-gfx906-xnack-.hsaco", "gfx906:xnack-"),
        ("TensileLibrary_gfx1030.co", "gfx1030"),
        ("TensileLibrary_lazy_gfx1100.dat", "gfx1100"),
        ("gfx908-sramecc+-xnack-.co", "gfx908:sramecc+:xnack-"),
        ("TensileLibrary.dat", None),
        ("libkernels_gfx942.so", None),
        ("gfx1030/readme.txt", None),
        ("gfx1100_and_gfx1030.co", None),
        ("xgfx1100.co", None),
        ("gfx1100x.co", "gfx1100"),
        ("gfx9.co", None),
        ("K_gfx11-generic.co", "gfx11-generic"),
        ("K_gfx1250-strict.hsaco", "gfx1250-strict"),
    ],
)
def test_names(name: str, target: str | None) -> None:
    found = target_of_name(name)
    assert (None if found is None else str(found)) == target


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("share/miopen/db/gfx90a68.kdb", "gfx90a"),
        ("share/miopen/db/gfx90878.HIP.fdb.txt", "gfx908"),
        ("gfx1030_36.db", "gfx1030"),
        ("gfx942.tn.model", "gfx942"),
        ("gfx803_36.db.txt", None),
        ("libgfx90a.db", None),
        ("gfx90a68.txt", None),
    ],
)
def test_databases(name: str, target: str | None) -> None:
    found = target_of_database(name, {"gfx90", "gfx90a", "gfx908", "gfx1030", "gfx942"})
    assert (None if found is None else str(found)) == target
