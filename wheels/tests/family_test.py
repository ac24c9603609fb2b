"""The set in the other layout, where each family of GPUs has libraries of its own: faults that only it can have."""

from collections.abc import Callable
from pathlib import Path

import pytest

from wheels.tests.editing import EditedSet, mini_sdk
from wheels.tests.libraries import fat, offload_bundle
from wheels.verify.engine import Request, verify
from wheels.verify.settings import Settings

DIST = mini_sdk("family")
WHEEL = "rocm_sdk_libraries_gfx110X_all"
LIBRARY = f"_{WHEEL}/lib/libfat.so.1"
#: True of the mini SDK: rocBLAS has no files for gfx1101.
UNEVEN = ("D103", WHEEL, f"_{WHEEL}/lib/rocblas/library")
#: What is only in one package is a library that does not serve the other family.
ONE_FAMILY = ("D108", WHEEL, LIBRARY)


def findings(edited: EditedSet) -> list[tuple[str, str, str]]:
    """Verify a set; return rule, wheel up to the version and file, without what is so in the mini SDK."""
    found = verify([edited.save()], Request(Settings(debug_info=True))).judged.findings
    return [(one.id, one.wheel.split("-")[0], one.file) for one in found]


def no_change(edited: EditedSet) -> None:
    """Change nothing."""


def uneven_libraries(edited: EditedSet) -> None:
    """One library has code for two processors of the family, another for one of them."""
    edited.wheel(WHEEL).files[LIBRARY] = fat("libfat.so.1", [offload_bundle(["gfx1100", "gfx1101"])])
    other = fat("libother.so.1", [offload_bundle(["gfx1100"])])
    edited.wheel(WHEEL).files[LIBRARY.replace("fat", "other")] = other


def complete_libraries(edited: EditedSet) -> None:
    """Both families have the processors that they need, and need none of the other family."""
    edited.wheel(WHEEL).files[LIBRARY] = fat("libfat.so.1", [offload_bundle(["gfx1100", "gfx1101"])])
    name = "rocm_sdk_libraries_gfx94X_dcgpu"
    edited.wheel(name).files[f"_{name}/lib/libfat.so.1"] = fat("libfat.so.1", [offload_bundle(["gfx942"])])


def other_family(edited: EditedSet) -> None:
    """Put code for the other family alone into a library."""
    edited.wheel(WHEEL).files[LIBRARY] = fat("libfat.so.1", [offload_bundle(["gfx942"])])


def file_of_other_family(edited: EditedSet) -> None:
    """Add a file for a processor of the other family."""
    edited.wheel(WHEEL).files[f"_{WHEEL}/lib/rocblas/library/Other_gfx942.dat"] = b"kernels"


def built_for_more(edited: EditedSet) -> None:
    """Build the libraries for a processor outside of the family as well, with its files and databases."""
    edited.wheel(WHEEL).files[LIBRARY] = fat("libfat.so.1", [offload_bundle(["gfx1100", "gfx1101", "gfx1030"])])
    for path in ("lib/rocblas/library/Kernels_gfx1030.dat", "share/miopen/db/gfx1030_36.kdb"):
        edited.wheel(WHEEL).files[f"_{WHEEL}/{path}"] = b"kernels"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (no_change, []),
        (complete_libraries, []),
        (uneven_libraries, [ONE_FAMILY, ("D108", WHEEL, LIBRARY.replace("fat", "other"))]),
        (other_family, [("D101", WHEEL, LIBRARY)]),
        (file_of_other_family, [("D105", WHEEL, f"_{WHEEL}/lib/rocblas/library/Other_gfx942.dat")]),
        (built_for_more, [ONE_FAMILY]),
    ],
)
def test_families(change: Callable[[EditedSet], None], expected: list[tuple[str, str, str]], tmp_path: Path) -> None:
    edited = EditedSet(DIST, tmp_path / "dist")
    change(edited)
    assert findings(edited) == sorted([*expected, UNEVEN], key=lambda one: (one[1], one[0], one[2]))
