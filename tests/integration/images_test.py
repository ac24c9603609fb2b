"""Images of the mini SDK: their layers are what pip installs, they share blobs, and what is in them runs."""

import csv
import hashlib
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from environment import DIST
from image_files import DEVEL, PYTHON, RUNTIME, SCRIPTS, SITE, blob, manifest_of, unpacked

#: What pip writes that a layer has not: how pip was called, and where the wheel came from.
OF_PIP = {"REQUESTED", "direct_url.json"}


def config_of(image: Path) -> dict[str, Any]:
    """Return the config of an image."""
    config: dict[str, Any] = json.loads(blob(image, manifest_of(image)["config"]).read_text())
    return config


@pytest.fixture(scope="module", params=RUNTIME, ids=lambda image: image.name)
def image(request: pytest.FixtureRequest) -> Path:
    """Return one of the runtime images."""
    return Path(request.param)


def test_every_digest_is_right(image: Path) -> None:
    manifest, config = manifest_of(image), config_of(image)
    layers = [blob(image, descriptor) for descriptor in manifest["layers"]]
    assert len(layers) == len(config["rootfs"]["diff_ids"]) == len(config["history"])
    for layer, diff_id in zip(layers, config["rootfs"]["diff_ids"], strict=True):
        inflated = subprocess.run(["gzip", "-dc", str(layer)], check=True, capture_output=True).stdout
        assert diff_id == f"sha256:{hashlib.sha256(inflated).hexdigest()}"
    entries = json.loads((image / "index.json").read_text())["manifests"]
    named = [*entries, *(part for entry in entries for part in parts_of(json.loads(blob(image, entry).read_text())))]
    assert {blob(image, one) for one in named} == set((image / "blobs/sha256").iterdir())


def parts_of(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a manifest consists of."""
    return [manifest["config"], *manifest["layers"]]


def test_each_bill_of_materials_refers_to_the_image(image: Path) -> None:
    entry, *artifacts = json.loads((image / "index.json").read_text())["manifests"]
    titles = []
    for one in artifacts:
        artifact = json.loads(blob(image, one).read_text())
        assert artifact["subject"]["digest"] == entry["digest"]
        (file,) = artifact["layers"]
        assert json.loads(blob(image, file).read_text())["bomFormat"] == "CycloneDX"
        titles.append(file["annotations"]["org.opencontainers.image.title"])
    target = image.name.removeprefix("image_")
    assert titles == [f"rocm-sdk-{name}.cdx.json" for name in ("core", "libraries", f"device-{target}")]


def test_an_image_has_the_packages_of_its_gpu_and_no_others(image: Path) -> None:
    target = image.name.removeprefix("image_")
    history = [entry["created_by"].partition("-")[0] for entry in config_of(image)["history"]]
    assert history == ["rocm_sdk_core", "rocm_sdk_libraries", f"rocm_sdk_device_{target}", "rocm"]
    assert config_of(image)["config"]["Labels"]["org.opencontainers.image.title"] == f"ROCm for {target}"


def test_images_share_the_layers_that_are_for_all_gpus() -> None:
    first, second = ([layer["digest"] for layer in manifest_of(image)["layers"]] for image in DEVEL[:2])
    assert [one == other for one, other in zip(first, second, strict=True)] == [True, True, False, True, True, False]
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


def wheels_of(image: Path) -> list[Path]:
    """Return the wheels whose files an image has."""
    names = [entry["created_by"] for entry in config_of(image)["history"]]
    return [next(path for path in (DIST / name, DIST / "static" / name) if path.exists()) for name in names]


def test_layers_have_what_pip_installs(image: Path, tmp_path: Path) -> None:
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


def test_records_of_images_name_every_file_with_its_digest(image: Path, tmp_path: Path) -> None:
    top = unpacked(image, tmp_path)
    site, named = top / SITE, set()
    for record in sorted(site.glob("*.dist-info/RECORD")):
        for path, digest, size in csv.reader(record.open(newline="")):
            file = (site / path).resolve()
            named.add(str(file.relative_to(top.resolve())))
            assert not size or file.stat().st_size == int(size)
            assert bool(digest) == (file != record.resolve())
    assert named == set(listing(top))


def test_what_is_in_an_image_runs(image: Path, tmp_path: Path) -> None:
    """As in a container, Python finds the packages in site-packages; the interpreter is the test's."""
    top = unpacked(image, tmp_path)
    environment = {"PYTHONPATH": str(top / SITE), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    script = top / SCRIPTS / "rocm-sdk"
    assert script.read_text().startswith(f"#!{PYTHON}\n")
    command = [sys.executable, str(script), "test"]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
