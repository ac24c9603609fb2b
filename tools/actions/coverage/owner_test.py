"""Tests of ownership: paths are those of ROCm 5.7 and 7.2."""

import pytest

from tools.actions.coverage.owner import library_name, owner_of

LIBRARIES = (
    "lib/libMIOpen.so.1",
    "lib/libhipblaslt.so.1",
    "lib/librocblas.so.5",
    "lib/librocfft-device-0.so.0",
    "lib/librocfft.so.0",
    "lib/llvm/lib/libomptarget.so",
)


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("lib/rocblas/5/library/Kernels.so-000-gfx90a-xnack+.hsaco", "lib/librocblas.so.5"),
        ("lib/rocblas/library/TensileLibrary_gfx1030.dat", "lib/librocblas.so.5"),
        ("lib/hipblaslt/library/extop_gfx942.co", "lib/libhipblaslt.so.1"),
        ("lib/rocfft/1.0.36/rocfft_kernel_cache.db", "lib/librocfft.so.0"),
        ("share/miopen/db/gfx90a68.kdb", "lib/libMIOpen.so.1"),
        ("lib/hipsparselt/library/extop_gfx942.co", "lib/hipsparselt/"),
        ("lib64/rocblas/library/a.co", "lib64/rocblas/"),
        ("share/nobody/a/b.co", "share/nobody/"),
        ("lib/kernels_gfx90a.co", "lib/"),
        ("bin/tests/a.hsaco", "bin/tests/"),
        ("a.co", "a.co"),
        ("lib/llvm/lib/omptarget/a.bc", "lib/llvm/"),
    ],
)
def test_owner(path: str, owner: str) -> None:
    assert owner_of(path, LIBRARIES) == owner


def test_of_several_libraries_the_nearest_to_the_top() -> None:
    several = ("lib/deep/libmiopen.so", "lib/libMIOpen.so.2", "lib/libMIOpen.so.1")
    assert owner_of("share/miopen/db/a.kdb", several) == "lib/libMIOpen.so.1"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("lib/libMIOpen.so.1.0", "miopen"),
        ("lib/libhipfft.so", "hipfft"),
        ("lib/liba.so.b.so.1", "a.so.b"),
        ("bin/rcclras", None),
        ("lib/librocfft.so.old", None),
    ],
)
def test_names_of_libraries(path: str, name: str | None) -> None:
    assert library_name(path) == name
