"""Tests of telling files of device code by their names."""

import pytest

from tools.actions.size_report.device_files import NO_TARGET, is_device_file, target_of_file


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("lib/rocblas/library/TensileLibrary_gfx1030.co", "gfx1030"),
        ("lib/rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a:xnack+"),
        ("lib/hipblaslt/library/extop_gfx942_sramecc+_xnack-.co", "gfx942:sramecc+:xnack-"),
        ("share/miopen/db/gfx90a68.kdb", "gfx90a"),
        ("share/miopen/db/gfx103030.kdb", "gfx1030"),
        ("lib/gfx906/gfx1100/a_gfx908.co", "gfx908"),
        ("lib/a_gfx11-generic.co", "gfx11-generic"),
        ("share/kernels.kdb", NO_TARGET),
        ("share/gfxstream.co", NO_TARGET),
        ("share/gfx5.co", "gfx5"),
        ("lib/a_gfx1100_gfx906.co", "gfx1100, gfx906"),
    ],
)
def test_targets_of_names(path: str, target: str) -> None:
    assert target_of_file(path) == target


@pytest.mark.parametrize(
    ("path", "kind", "is_device"),
    [
        ("lib/a.co", "data", True),
        ("lib/a.hsaco", "gpu-code-object", True),
        ("lib/a", "gpu-code-object", True),
        ("share/gfx90a68.kdb", "data", True),
        (".kpack/blas_gfx1030.kpack", "data", True),
        ("lib/TensileLibrary_gfx1030.dat", "data", False),
        ("lib/liba.so.1", "elf-library", False),
    ],
)
def test_device_files(path: str, kind: str, is_device: bool) -> None:
    assert is_device_file(path, kind) is is_device
