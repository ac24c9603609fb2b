"""Images of the mini SDK: their layers are what pip installs, they share blobs, and what is in them runs."""

import csv
import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from image_files import (
    DEVEL,
    LAYOUT,
    PYTHON,
    RUNTIME,
    SCRIPTS,
    SITE,
    Image,
    blob,
    config_of,
    document,
    entries,
    history_of,
    manifest_of,
    unpacked,
    wheels_of,
)

#: What pip writes that a layer has not: how pip was called, and where the wheel came from.
OF_PIP = {"REQUESTED", "direct_url.json"}
#: Packages beside core, by the layout of the packages; `{}` stands for the GPU target or family.
LIBRARIES = {"split": ("libraries", "device-{}"), "family": ("libraries-{}",), "thin": ("libraries-{}",)}


def packages_of(image: Image) -> list[str]:
    """Return the packages with files of ROCm that an image has."""
    names = (name.format(image.target) for name in LIBRARIES[os.environ["LAYOUT"]])
    return [f"rocm-sdk-{name}" for name in ("core", *names)]


@pytest.fixture(scope="module", params=RUNTIME, ids=lambda image: image.tag)
def image(request: pytest.FixtureRequest) -> Image:
    """Return one of the runtime images."""
    found: Image = request.param
    return found


def test_every_digest_is_right(image: Image) -> None:
    manifest, config = manifest_of(image), config_of(image)
    layers = [blob(descriptor) for descriptor in manifest["layers"]]
    assert len(layers) == len(config["rootfs"]["diff_ids"]) == len(config["history"])
    for layer, diff_id in zip(layers, config["rootfs"]["diff_ids"], strict=True):
        inflated = subprocess.run(["gzip", "-dc", str(layer)], check=True, capture_output=True).stdout
        assert diff_id == f"sha256:{hashlib.sha256(inflated).hexdigest()}"


def test_the_layout_has_what_the_images_name_and_nothing_else() -> None:
    named = [*entries(), *(part for entry in entries() for part in parts_of(document(entry)))]
    assert {blob(one) for one in named} == set((LAYOUT / "blobs/sha256").iterdir())


def parts_of(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a manifest consists of."""
    return [manifest["config"], *manifest["layers"]]


def test_each_bill_of_materials_refers_to_the_image(image: Image) -> None:
    artifacts = [document(entry) for entry in entries() if "artifactType" in entry]
    files = [artifact["layers"] for artifact in artifacts if artifact["subject"]["digest"] == image.digest]
    titles = []
    for (file,) in files:
        assert document(file)["bomFormat"] == "CycloneDX"
        titles.append(file["annotations"]["org.opencontainers.image.title"])
    assert titles == [f"{name}.cdx.json" for name in packages_of(image)]


def test_an_image_has_the_packages_of_its_gpu_and_no_others(image: Image) -> None:
    names = [name.partition("-")[0] for name in history_of(image)]
    assert names == [name.replace("-", "_") for name in (*packages_of(image), "rocm")]
    title = config_of(image)["config"]["Labels"]["org.opencontainers.image.title"]
    assert title == f"ROCm for {image.target}"


def test_images_share_the_layers_that_are_for_all_gpus() -> None:
    first, second = ([layer["digest"] for layer in manifest_of(image)["layers"]] for image in DEVEL[:2])
    # Core, libraries, rocm and devel; without packages of device code, libraries are for one GPU or family.
    libraries = [True, False] if os.environ["LAYOUT"] == "split" else [False]
    assert [one == other for one, other in zip(first, second, strict=True)] == [True, *libraries, True, True, False]
    runtime = [layer["digest"] for layer in manifest_of(RUNTIME[0])["layers"]]
    assert runtime == first[: len(runtime)]


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
