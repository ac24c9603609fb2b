"""Tests of the coverage table: equal tables are equal bytes, and each file of device code has its owner."""

from pathlib import Path

import pytest

from lib.device.coverage import Coverage, collect, library_name, owner_of, write_coverage

TABLE = Coverage({"lib/librocblas.so.5": ("gfx90a:xnack+", "gfx1030"), "lib/foo/": ("gfx1100",)})
WRITTEN = """{
 "format": 1,
 "libraries": {
  "lib/foo/": [
   "gfx1100"
  ],
  "lib/librocblas.so.5": [
   "gfx1030",
   "gfx90a:xnack+"
  ]
 }
}
"""


def test_the_table_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "coverage.json"
    write_coverage(str(path), TABLE)
    assert path.read_text(encoding="utf-8") == WRITTEN
    assert TABLE.targets == ("gfx1030", "gfx1100", "gfx90a:xnack+")


def test_collected_in_any_order() -> None:
    pairs = [("lib/b", "gfx90a"), ("lib/a", "gfx942"), ("lib/b", "gfx1030"), ("lib/b", "gfx90a")]
    assert (
        collect(pairs) == collect(reversed(pairs)) == Coverage({"lib/a": ("gfx942",), "lib/b": ("gfx1030", "gfx90a")})
    )
    assert list(collect(pairs).libraries) == ["lib/a", "lib/b"]
    assert collect([]).to_document() == {"format": 1, "libraries": {}}


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


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("bin/rocblas/library/Kernels_gfx1100.dat", "bin/rocblas.dll"),
        ("bin/hipblaslt/library/a.co", "bin/libhipblaslt.dll"),
        ("share/miopen/db/a.kdb", "bin/MIOpen.dll"),
        ("bin/tests/deep/a.co", "bin/tests/deep/"),
        ("other/bin/rocblas/library/a.co", "other/bin/rocblas/library/"),
    ],
)
def test_owner_on_windows(path: str, owner: str) -> None:
    assert owner_of(path, ("bin/MIOpen.dll", "bin/libhipblaslt.dll", "bin/rocblas.dll")) == owner


def test_of_several_libraries_the_nearest_to_the_top() -> None:
    several = ("lib/deep/libmiopen.so", "lib/libMIOpen.so.2", "lib/libMIOpen.so.1")
    assert owner_of("share/miopen/db/a.kdb", several) == "lib/libMIOpen.so.1"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("lib/libMIOpen.so.1.0", "miopen"),
        ("lib/libhipfft.so", "hipfft"),
        ("lib/liba.so.b.so.1", "a.so.b"),
        ("lib/libLLVM.so.23.0git", "llvm"),
        ("bin/rcclras", None),
        ("lib/librocfft.so.old", None),
    ],
)
def test_names_of_libraries(path: str, name: str | None) -> None:
    assert library_name(path) == name
