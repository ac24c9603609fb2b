"""Wheel variants of `rocm`: each is what the sdist makes of itself on a machine with one of its GPUs."""

import json
import shutil
import subprocess
import sys
import tarfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest
from environment import DIST, Environment

from lib.gpus.table import TARGETS
from lib.wheel.variant_format import INDEX_SUFFIX, split_label
from wheels.verify.engine import Request, verify

WHEELS = {label: path for path in sorted(DIST.glob("rocm-*.whl")) if (label := split_label(path.name)[1])}
#: Label -> the GPUs that the index says.
LISTED = {
    label: properties["amd"]["gfx_arch"]
    for path in DIST.glob(f"*{INDEX_SUFFIX}")
    for label, properties in json.loads(path.read_bytes())["variants"].items()
}
#: What the sdist reads of the machine: nothing else decides.
FORCED = "ROCM_BOOTSTRAP_FORCE_GFX_ARCH"
BUILD = "import sys, rocm_build; print(rocm_build.build_wheel(sys.argv[1]))"


def read(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel by their names; files in .dist-info without that directory."""
    with ZipFile(wheel) as archive:
        return {name.rpartition(".dist-info/")[2]: archive.read(name) for name in archive.namelist()}


@pytest.fixture(name="sdist", scope="module")
def _sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sdist")
    (path,) = DIST.glob("rocm-*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(directory, filter="data")
    (unpacked,) = directory.iterdir()
    return unpacked


def built(sdist: Path, gpu: str, output: Path) -> dict[str, bytes]:
    """Let the sdist's backend build the wheel for a machine with a GPU; returns its files."""
    output.mkdir()
    variables = {"PYTHONPATH": str(sdist / "backend"), FORCED: gpu, "PATH": "/nowhere"}
    command = [sys.executable, "-B", "-c", BUILD, str(output)]
    subprocess.run(command, check=True, capture_output=True, env=variables)
    (wheel,) = output.glob("*.whl")
    return read(wheel)


def fields(metadata: bytes) -> tuple[list[tuple[str, str]], str]:
    """Return what core metadata says, whatever the order is."""
    message: Message = message_from_bytes(metadata)
    pairs = ((name, str(value).replace("'", '"')) for name, value in message.items())
    return sorted(pair for pair in pairs if pair[0] != "Metadata-Version"), str(message.get_payload()).strip()


def test_there_is_a_variant_for_each_package() -> None:
    assert WHEELS.keys() == LISTED.keys()
    assert len(WHEELS) > 1
    gpus = [gpu for listed in LISTED.values() for gpu in listed]
    assert len(gpus) == len(set(gpus)), "no GPU has two, so installers need not choose between them"


@pytest.mark.parametrize("gpu", [gpu for listed in LISTED.values() for gpu in listed])
def test_a_variant_is_what_the_sdist_chooses(sdist: Path, tmp_path: Path, gpu: str) -> None:
    (label,) = (label for label, listed in LISTED.items() if gpu in listed)
    variant, expected = read(WHEELS[label]), built(sdist, gpu, tmp_path / "wheel")
    assert fields(variant.pop("METADATA")) == fields(expected.pop("METADATA"))
    ours, theirs = (json.loads(one.pop("rocm_sdk/_selected.json")) for one in (variant, expected))
    assert ours["target"] == theirs["target"]
    own = {"RECORD", "WHEEL", "entry_points.txt"}
    assert variant.keys() - own - {"variant.json"} == expected.keys() - own
    assert {name for name in expected.keys() - own if variant[name] != expected[name]} == set()


def test_other_gpus_get_the_default(sdist: Path, tmp_path: Path) -> None:
    """A variant for them would be the same as what they get without one."""
    listed = {gpu for gpus in LISTED.values() for gpu in gpus}
    default = json.loads((sdist / "src/rocm_sdk/_distributions.json").read_bytes())["default_target"]
    for gpu in sorted({target.owner for target in TARGETS} - listed):
        chosen = json.loads(built(sdist, gpu, tmp_path / gpu)["rocm_sdk/_selected.json"])
        assert (chosen["target"], chosen["source"]) == (default, "default"), gpu


@pytest.mark.parametrize("label", WHEELS)
def test_a_variant_works(tmp_path: Path, label: str) -> None:
    """Under the name without a label, so that pip takes it."""
    wheel = tmp_path / split_label(WHEELS[label].name)[0]
    shutil.copy(WHEELS[label], wheel)
    environment = Environment(tmp_path / "environment")
    layout = json.loads(read(wheel)["rocm_sdk/_distributions.json"])["layout"]
    extras = "libraries,device" if layout == "split" else "libraries"
    environment.install(f"rocm[{extras}] @ {wheel.as_uri()}", **{FORCED: LISTED[label][0]})
    target = json.loads(read(wheel)["rocm_sdk/_selected.json"])["target"]
    name = target.replace("-", "_")
    assert any(one.endswith(f"_{name}") for one in environment.distributions())
    said = environment.run("rocm-sdk", "targets", "--why")
    assert f"selected:  {target} (when rocm was installed: the installer chose" in said
    assert ", 0 failed" in environment.run("rocm-sdk", "test").splitlines()[-1]


def test_installers_that_know_no_variants_take_the_sdist(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.install("rocm", **{FORCED: LISTED[next(iter(WHEELS))][0]})
    (installed,) = environment.site_packages.glob("rocm-*.dist-info")
    assert not (installed / "variant.json").exists()
    record = json.loads((environment.site_packages / "rocm_sdk/_selected.json").read_bytes())
    assert record["source"] == "detection"


def test_rocm_verify_finds_nothing_in_them() -> None:
    found = verify([DIST], Request(processes=1)).judged.findings
    names = {path.name for path in WHEELS.values()}
    assert [f"{one.id} {one.wheel}: {one.evidence}" for one in found if one.wheel in names] == []
