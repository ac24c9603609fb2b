"""Packages of the mini SDK for one GPU target each hold what their names promise."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from develop.testing.device_sample import compressed
from wheels.tests.editing import EditedSet, mini_sdk
from wheels.tests.libraries import fat, offload_bundle
from wheels.tests.planted_set import mirror
from wheels.verify.engine import Request, verify
from wheels.verify.exceptions import DeclaredException
from wheels.verify.finding import Finding
from wheels.verify.settings import Settings

DIST = mini_sdk("thin")
TARGETS = ("gfx1100", "gfx1101", "gfx942")

#: True of the mini SDK: rocBLAS has files for gfx1100 and none for gfx1101.
SDK = (DeclaredException("D103", "true", file="_rocm_sdk_libraries_gfx1101/lib/rocblas/library", target="gfx1101"),)


def findings(directory: Path, exceptions: tuple[DeclaredException, ...] = SDK) -> tuple[Finding, ...]:
    """Verify a set; return what is not so in the mini SDK itself."""
    return verify([directory], Request(Settings(debug_info=True), exceptions)).judged.findings


def said(found: Sequence[Finding]) -> list[tuple[str, str, str]]:
    """Return rule, wheel up to the version and file."""
    return [(one.id, one.wheel.split("-")[0], one.file) for one in found]


def tree(target: str) -> str:
    """Return the tree of a target's package."""
    return f"_rocm_sdk_libraries_{target}"


def put(edited: EditedSet, target: str, path: str, data: bytes) -> None:
    """Put a file into the package of a target."""
    edited.wheel(f"rocm_sdk_libraries_{target}").files[f"{tree(target)}/{path}"] = data


def libraries(edited: EditedSet, codes: dict[str, list[list[str]]], name: str = "libfat.so.1") -> None:
    """Put a library into the packages of the mini SDK, with bundles for these targets."""
    for target, bundles in codes.items():
        put(edited, target, f"lib/{name}", fat(name, [offload_bundle(one) for one in bundles]))


SLICED = {
    "gfx1100": [["gfx1100"], ["gfx11-generic"]],
    "gfx1101": [["gfx1101"], ["gfx11-generic"]],
    "gfx942": [["gfx942:xnack+", "gfx942:xnack-"], ["gfx942"]],
}


def no_change(edited: EditedSet) -> None:
    """Change nothing."""


def sliced(edited: EditedSet) -> None:
    """Add a library that was sliced as it should be; a generic target's code is in both packages that can load it."""
    libraries(edited, SLICED)


def data(edited: EditedSet) -> None:
    """Add files that are named for their targets, and MIOpen's databases."""
    for target, units in zip(TARGETS, ("_60", "_54", "130"), strict=True):
        put(edited, target, f"lib/more/Kernels_{target}.dat", b"kernels")
        put(edited, target, f"share/miopen/db/{target}{units}.kdb", b"database")


def code_of_another_target(edited: EditedSet) -> None:
    """Leave code in a library that its GPU cannot load."""
    libraries(edited, SLICED | {"gfx1100": [["gfx1100", "gfx1101"], ["gfx11-generic"]]})


def compressed_code_of_another_target(edited: EditedSet) -> None:
    """Leave it in one whose bundles are compressed."""
    libraries(edited, SLICED)
    bundles = [compressed(offload_bundle(["gfx942", "gfx950"]))] * 2
    put(edited, "gfx942", "lib/libfat.so.1", fat("libfat.so.1", bundles))


def no_library(edited: EditedSet) -> None:
    """Put a library into the packages of two targets alone."""
    libraries(edited, {target: SLICED[target] for target in TARGETS[1:]})


def no_data(edited: EditedSet) -> None:
    """Leave out the files for one target where the others have some."""
    data(edited)
    del edited.wheel("rocm_sdk_libraries_gfx942").files[f"{tree('gfx942')}/lib/more/Kernels_gfx942.dat"]


def expected(rule: str, target: str, path: str) -> list[tuple[str, str, str]]:
    """Return one finding."""
    return [(rule, f"rocm_sdk_libraries_{target}", f"{tree(target)}/{path}")]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (no_change, []),
        (sliced, []),
        (data, []),
        (code_of_another_target, expected("D107", "gfx1100", "lib/libfat.so.1")),
        (compressed_code_of_another_target, expected("D107", "gfx942", "lib/libfat.so.1")),
        (no_library, expected("D101", "gfx1100", "lib/libfat.so.1")),
        (no_data, expected("D108", "gfx942", "lib/more")),
    ],
)
def test_the_mini_sdk(change: Callable[[EditedSet], None], wanted: list[tuple[str, str, str]], tmp_path: Path) -> None:
    edited = EditedSet(DIST, tmp_path / "dist")
    change(edited)
    assert said(findings(edited.save())) == wanted


def test_the_evidence_has_bytes_and_targets(tmp_path: Path) -> None:
    edited = EditedSet(DIST, tmp_path / "dist")
    code_of_another_target(edited)
    (finding,) = findings(edited.save())
    assert finding.said == "gfx1101: 63 bytes of code that gfx1100 cannot load"


def test_what_is_linked_into_the_development_tree_is_no_second_copy(tmp_path: Path) -> None:
    """A link of the archive to a file that all packages by target have would be one to a package that need not be."""
    edited = EditedSet(DIST, tmp_path / "dist")
    libraries(edited, SLICED)
    mirror(edited, "lib/libfat.so.1", "_rocm_sdk_libraries_gfx1100")
    assert said(findings(edited.save())) == []
