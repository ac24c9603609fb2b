"""For which GPUs data files are."""

from pathlib import Path

import pytest

from hip.tools.prefix.device_data import DeviceData, readers


def test_names_of_files(tmp_path: Path) -> None:
    directory = tmp_path / "lib/rocblas"
    for name in (
        "library/Kernels.so-000-gfx90a-xnack+.hsaco",
        "library/Type_SS_gfx1100.dat",
        "library/fallback_gfx9_generic.co",
        "gfx942/kernels.co",
        "db/gfx90878.kdb",
        "db/gfx9.txt",
        "names.dat",
    ):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).touch()
    found = DeviceData(tmp_path).readers(["lib/rocblas/**", "share/absent/**"])
    assert list(found) == ["gfx1100", "gfx908", "gfx90a", "gfx942", "gfx9_generic"]
    assert found["gfx90a"] == ("gfx90a",)
    assert found["gfx9_generic"] == readers("gfx9-generic")


@pytest.mark.parametrize(
    ("processor", "expected"),
    [
        ("gfx90a", {"gfx90a"}),
        ("gfx1100", {"gfx11-generic", "gfx1100"}),
        # Programs for gfx1250 may run on what has its code, and the other way round.
        ("gfx1250", {"gfx12-5-generic", "gfx1250", "gfx1250-strict"}),
        ("gfx1250-strict", {"gfx12-5-generic", "gfx1250", "gfx1250-strict"}),
        ("gfx9-generic", {"gfx9-generic", "gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}),
    ],
)
def test_whose_programs_read_files(processor: str, expected: set[str]) -> None:
    assert set(readers(processor)) == expected
    assert list(readers(processor)) == sorted(expected)
