"""Images of the mini SDK: their layers are what pip installs, they share some, and what is in them runs."""

import csv
import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from image_files import DEVEL, PYTHON, RUNTIME, SCRIPTS, SITE, Image, unpacked, wheels_of

#: What pip writes that a layer has not: how pip was called, and where the wheel came from.
OF_PIP = {"REQUESTED", "direct_url.json"}
#: Packages beside core, by the layout of the packages; `{}` stands for the GPU target or family.
LIBRARIES = {"split": ("libraries", "device_{}"), "family": ("libraries_{}",), "thin": ("libraries_{}",)}


@pytest.fixture(scope="module", params=RUNTIME, ids=lambda image: image.target)
def image(request: pytest.FixtureRequest) -> Image:
    """Return one of the runtime images."""
    found: Image = request.param
    return found


def test_an_image_has_the_packages_of_its_gpu_and_no_others(image: Image) -> None:
    names = [name.format(image.target) for name in LIBRARIES[os.environ["LAYOUT"]]]
    assert sorted(image.packages) == sorted(["core", *names, "rocm"])


def test_images_share_the_layers_that_are_for_all_gpus() -> None:
    first, second = (image.layers for image in DEVEL[:2])
    # Without packages of device code, libraries are for one GPU or family.
    common = {"core", "devel", "rocm"} | ({"libraries"} if os.environ["LAYOUT"] == "split" else set())
    assert {path.name for path in {*first} & {*second}} == {f"{name}_layer.tar.gz" for name in common}
    assert len(first) == len(second) == len(common) + 2


def listing(top: Path) -> dict[str, tuple[str, bool]]:
    """Return the files below a directory, and of each its SHA-256, and whether it may be executed."""
    return {
        str(path.relative_to(top)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            bool(path.stat().st_mode & stat.S_IXUSR),
        )
        for path in top.rglob("*")
        if path.is_file()
    }


def test_layers_have_what_pip_installs(image: Image, tmp_path: Path) -> None:
    tree = listing(unpacked(image, tmp_path / "image"))
    target = tmp_path / "pip"
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--no-compile", f"--target={target}"]
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([*command, *map(str, wheels_of(image))], check=True, capture_output=True, env=variables, umask=0o022)
    installed = {name: found for name, found in listing(target).items() if Path(name).name not in OF_PIP}
    scripts = {Path(name).name for name in installed if name.startswith("bin/")}
    records = {name for name in installed if name.endswith(".dist-info/RECORD")}
    assert {name.removeprefix(f"{SCRIPTS}/") for name in tree if name.startswith(f"{SCRIPTS}/")} == scripts
    in_image = {name.removeprefix(f"{SITE}/"): found for name, found in tree.items() if name.startswith(f"{SITE}/")}
    assert in_image.keys() == {name for name in installed if not name.startswith("bin/")}
    assert {name for name in in_image if in_image[name] != installed[name]} == records
    for name in records:
        assert rows(tmp_path / "image" / SITE / name) == rows(target / name)


def rows(record: Path) -> set[tuple[str, ...]]:
    """Return the lines of RECORD without scripts, whose paths and interpreters differ, and without pip's own files."""
    with record.open(newline="") as file:
        found = {tuple(row) for row in csv.reader(file)}
    return {row for row in found if "/bin/" not in row[0] and Path(row[0]).name not in OF_PIP}


def test_records_of_images_name_every_file_with_its_digest(image: Image, tmp_path: Path) -> None:
    top = unpacked(image, tmp_path)
    site, named = top / SITE, set()
    for record in sorted(site.glob("*.dist-info/RECORD")):
        for path, digest, size in csv.reader(record.open(newline="")):
            file = (site / path).resolve()
            named.add(str(file.relative_to(top.resolve())))
            assert not size or file.stat().st_size == int(size)
            assert bool(digest) == (file != record.resolve())
    assert named == set(listing(top))


def test_what_is_in_an_image_runs(image: Image, tmp_path: Path) -> None:
    """As in a container, Python finds the packages in site-packages; the interpreter is the test's."""
    top = unpacked(image, tmp_path)
    environment = {"PYTHONPATH": str(top / SITE), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    script = top / SCRIPTS / "rocm-sdk"
    assert script.read_text().startswith(f"#!{PYTHON}\n")
    command = [sys.executable, str(script), "test"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
