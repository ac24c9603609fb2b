"""Faults planted in an image are found by the rules that know wheels, and by those for layers."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lib.common.program import ToolError
from tools.actions.layer.model import LANDMARK, TOC_NAME
from wheels.tests.editing import EditedSet
from wheels.tests.libraries import with_needed, with_search_path
from wheels.tests.planted_image import SITE, TARGET, PlantedImage, PlantedLayer
from wheels.tests.planted_set import LIBRARIES, planted_set
from wheels.tests.set_faults import BLAS
from wheels.verify.engine import Request
from wheels.verify.exceptions import DeclaredException
from wheels.verify.finding import Finding
from wheels.verify.image.engine import verify_image
from wheels.verify.image.layers import is_image
from wheels.verify.settings import Settings
from wheels.verify.tool import main

DIST = Path(os.environ["DIST"]).absolute()
REQUEST = Request(
    Settings(debug_info=True),
    (DeclaredException("W504", "the RPATH entry that the package drops", file="_rocm_sdk_core/bin/rocminfo"),),
    targets=(TARGET,),
)
DEVICE = f"rocm_sdk_device_{TARGET}"


@dataclass(frozen=True)
class Fault:
    """A fault: the rules that must find it, in a wheel or a layer, and what a finding names."""

    rules: str
    name: str
    file: str
    in_wheel: Callable[[EditedSet], None] = lambda edited: None
    in_layers: Callable[[dict[str, PlantedLayer]], None] = lambda layers: None


def foreign_code(edited: EditedSet) -> None:
    """Put the other GPU's device code into the package for this one."""
    other = edited.wheel("rocm_sdk_device_gfx1100").files
    own = edited.wheel(DEVICE).files
    (path,) = [path for path in other if path.endswith("split_gfx1100.kpack")]
    own[path] = other[path]


def missing_owner(edited: EditedSet) -> None:
    """Let a library need another library that no package has."""
    files = edited.wheel("rocm_sdk_libraries").files
    files[BLAS] = with_needed(files[BLAS], "librocblas.so.5", "libnobodys.so.2")


def wrong_rpath(edited: EditedSet) -> None:
    """Let the loader search a directory of the build machine."""
    files = edited.wheel("rocm_sdk_libraries").files
    files[BLAS] = with_search_path(files[BLAS], ["/opt/build/lib"])


def set_user_id(layers: dict[str, PlantedLayer]) -> None:
    """Let everybody run a program as root."""
    info, _ = layers["rocm_sdk_core"].files[f"{SITE}/_rocm_sdk_core/bin/rocminfo"]
    info.mode |= 0o4000


def other_bytes(layers: dict[str, PlantedLayer]) -> None:
    """Put a second file at a path of the layer below."""
    layers["rocm"].add(f"{SITE}/{LIBRARIES}/__init__.py", b"other")


def same_bytes(layers: dict[str, PlantedLayer]) -> None:
    """Have one file in two layers."""
    path = next(path for path, (info, _) in layers["rocm_sdk_core"].files.items() if info.isreg())
    layers["rocm"].files[path] = layers["rocm_sdk_core"].files[path]


def damage(layers: dict[str, PlantedLayer]) -> None:
    """Change a file, and leave RECORD."""
    path = next(path for path in layers["rocm"].files if path.endswith("rocm_sdk/cli.py"))
    layers["rocm"].add(path, b"x = 1\n")


def unlisted(layers: dict[str, PlantedLayer]) -> None:
    """Add a file that no RECORD lists."""
    layers["rocm"].add("etc/profile.d/rocm.sh", b"true\n")


def whiteout(layers: dict[str, PlantedLayer]) -> None:
    """Take a file away from the layer below."""
    layers["rocm"].add(f"{SITE}/{LIBRARIES}/lib/.wh.libmath.so.1", b"")


def pulled_lazily(layers: dict[str, PlantedLayer]) -> None:
    """Add what eStargz adds to each layer."""
    for package, layer in layers.items():
        layer.add(LANDMARK, b"\x0f")
        layer.add(TOC_NAME, package.encode())


FAULTS = (
    Fault("D107", "code for another GPU", "split_gfx1100.kpack", in_wheel=foreign_code),
    Fault("S101", "a library that no package has", BLAS, in_wheel=missing_owner),
    Fault("S103 W411", "a search path of the build machine", BLAS, in_wheel=wrong_rpath),
    Fault("W112", "a set-user-ID bit", "bin/rocminfo", in_layers=set_user_id),
    Fault("I101 W204 W205", "two layers with different files", f"{LIBRARIES}/__init__.py", in_layers=other_bytes),
    Fault("W204 W205", "a file that is not as RECORD says", "rocm_sdk/cli.py", in_layers=damage),
    Fault("I102", "a file that no RECORD lists", "etc/profile.d/rocm.sh", in_layers=unlisted),
    Fault("S101 W203", "a file that a layer above takes away", "libmath.so.1", in_layers=whiteout),
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the set without faults."""
    return planted_set(DIST, tmp_path_factory.mktemp("base") / "dist").save()


def image_of(base: Path, directory: Path, fault: Fault | None = None, *, as_archive: bool = False) -> Path:
    """Write an image with a fault, or without any."""
    edited = EditedSet(base, directory / "dist")
    if fault:
        fault.in_wheel(edited)
    image = PlantedImage(edited, directory)
    if fault:
        fault.in_layers(image.layers)
    return image.save(as_archive=as_archive)


def findings(image: Path) -> tuple[Finding, ...]:
    """Verify an image."""
    return verify_image(image, REQUEST).judged.findings


@pytest.mark.parametrize("as_archive", [False, True])
def test_an_image_without_faults(as_archive: bool, base: Path, tmp_path: Path) -> None:
    image = image_of(base, tmp_path, as_archive=as_archive)
    assert is_image(image)
    assert findings(image) == ()


@pytest.mark.parametrize("fault", [pytest.param(one, id=f"{one.rules}: {one.name}") for one in FAULTS])
def test_a_planted_fault_is_found(fault: Fault, base: Path, tmp_path: Path) -> None:
    found = findings(image_of(base, tmp_path, fault))
    said = [f"{one.id} {one.wheel} {one.file}: {one.evidence}" for one in found]
    assert {one.id for one in found} == set(fault.rules.split()), said
    assert any(fault.file in one.file for one in found), said


def test_files_of_the_format_of_layers_are_no_fault(base: Path, tmp_path: Path) -> None:
    assert findings(image_of(base, tmp_path, Fault("", "", "", in_layers=pulled_lazily))) == ()


def test_one_file_in_two_layers_is_no_fault(base: Path, tmp_path: Path) -> None:
    assert findings(image_of(base, tmp_path, Fault("", "", "", in_layers=same_bytes))) == ()


def test_a_damaged_image_cannot_be_verified(base: Path, tmp_path: Path) -> None:
    image = image_of(base, tmp_path)
    largest = max((image / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    largest.unlink()
    with pytest.raises(ToolError, match="has no blobs/sha256/"):
        findings(image)


def test_an_image_is_verified_alone(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    image = image_of(base, tmp_path)
    assert main([str(image), str(base)]) == 2
    assert "is an image; expected no other path beside it. Verify each image alone\n" in capsys.readouterr().err
    with pytest.raises(ToolError, match="expected no --others and no --last-release"):
        verify_image(image, replace(REQUEST, others=(base,)))
    assert main(["--no-set", str(image)]) == 1
    assert "W504" in capsys.readouterr().out
