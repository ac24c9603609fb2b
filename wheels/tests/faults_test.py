"""Every planted fault is found, by the right rule, and nothing else is said."""

from dataclasses import replace
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from wheels.tests import (
    content_faults,
    devel_faults,
    device_faults,
    release_faults,
    selection_faults,
    set_faults,
    wheel_faults,
    windows_faults,
)
from wheels.tests.editing import EditedSet, mini_sdk
from wheels.tests.faults import FAULTS, Fault
from wheels.tests.libraries import with_needed
from wheels.tests.planted_set import planted_set
from wheels.tests.set_faults import BLAS, kernels_for
from wheels.verify import registry
from wheels.verify.engine import Request, verify
from wheels.verify.exceptions import DeclaredException
from wheels.verify.finding import Finding
from wheels.verify.settings import Settings

MODULES = (
    wheel_faults,
    content_faults,
    set_faults,
    selection_faults,
    devel_faults,
    device_faults,
    windows_faults,
    release_faults,
)
#: The mini SDK's distributions.
DIST = mini_sdk("split")
#: The mini SDK is compiled with debug information.
REQUEST = Request(Settings(debug_info=True))


def findings(directory: Path, request: Request = REQUEST) -> tuple[Finding, ...]:
    """Verify a set."""
    return verify([directory], request).judged.findings


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the set without faults."""
    return planted_set(DIST, tmp_path_factory.mktemp("base") / "dist").save()


def test_the_set_has_no_fault_of_its_own(base: Path) -> None:
    assert findings(base) == ()
    assert findings(base, replace(REQUEST, last_release=(base,))) == ()
    assert findings(base, replace(REQUEST, targets=("gfx1100", "gfx942"))) == ()


@pytest.mark.parametrize("algorithm", ["sha384", "sha512"])
def test_stronger_hashes_than_sha256_are_no_fault(algorithm: str, base: Path, tmp_path: Path) -> None:
    edited = EditedSet(base, tmp_path / "dist")
    wheel_faults.record_by(algorithm, edited.wheel("rocm_sdk_core"))
    assert findings(edited.save()) == ()


@pytest.mark.parametrize("fault", [pytest.param(one, id=f"{one.rule}: {one.name}") for one in FAULTS])
def test_a_planted_fault_is_found_and_nothing_else(fault: Fault, base: Path, tmp_path: Path) -> None:
    edited = EditedSet(base, tmp_path / "dist")
    fault.plant(edited)
    request = replace(REQUEST, last_release=(base,) if fault.released else ())
    found = findings(edited.save(), replace(request, targets=(fault.target,) if fault.target else ()))
    said = [f"{one.id} {one.wheel} {one.file}: {one.evidence}" for one in found]
    assert {one.id for one in found} == {fault.rule}, said
    assert any(one.wheel.startswith(fault.wheel) and fault.file in one.file for one in found), said


def test_a_library_that_users_must_have_by_the_metadata_is_not_missing(base: Path, tmp_path: Path) -> None:
    edited = EditedSet(base, tmp_path / "dist")
    wheel = edited.wheel("rocm_sdk_libraries")
    wheel.files[BLAS] = with_needed(wheel.files[BLAS], "librocblas.so.5", "libnobodys.so.2")
    wheel.replace("METADATA", "\nRequires-Dist:", "\nRequires-External: libnobodys.so.2\nRequires-Dist:")
    assert findings(edited.save()) == ()


@pytest.mark.parametrize("same", ["the GPU", "the build"])
def test_libraries_of_one_soname_that_never_meet_or_are_one_build(same: str, base: Path, tmp_path: Path) -> None:
    """Packages for different GPUs, a group of them too, and copies of one library with other RPATHs."""
    edited = EditedSet(base, tmp_path / "dist")
    for number, target in enumerate(("gfx1100", "gfx94", "gfx94x_dcgpu")):
        name = f"solver_{target}" if same == "the GPU" else f"solver_{number}"
        zeros, rpath = (number, None) if same == "the GPU" else (0, "$ORIGIN/.." * number)
        library = Sample(soname="libfast.so.1", zeros=zeros, rpath=rpath or None)
        edited.add(kernels_for(name, library))
    assert findings(edited.save()) == ()


def test_an_exception_that_excuses_nothing_is_found(base: Path) -> None:
    unused = DeclaredException("S101", "it was so once", wheel="rocm_sdk_core-*")
    request = Request(REQUEST.settings, (*REQUEST.exceptions, unused))
    (finding,) = findings(base, request)
    assert finding.id == "X101"
    assert "it was so once" in finding.evidence


def test_there_is_a_fault_for_every_rule() -> None:
    assert MODULES
    planted = {fault.rule for fault in FAULTS} | {"X101"}
    assert planted <= registry.rules().keys()
    not_planted = {
        "W104",  # members that share bytes: lib/wheel/zip_reader_test.py
        "W113",  # budgets are settings, and the set has none
        "W407",  # debug information: the mini SDK has it
    }
    assert registry.rules().keys() - planted == not_planted
    assert len(FAULTS) >= 60
