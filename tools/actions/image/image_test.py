"""Tests of images: the documents of the OCI image specification, bases, and what is refused."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.actions.image.tool import main
from tools.actions.layer.tool import TAR, TAR_GZIP, LayerDescriptor

REFERENCE = "localhost/acme:1.0-gfx942"


def layer(directory: Path, name: str, architecture: str = "") -> list[str]:
    """Write a layer and its descriptor; return the arguments that name them."""
    data = name.encode() * 1000
    (directory / name).write_bytes(data)
    sha256 = hashlib.sha256(data).hexdigest()
    diff_id = hashlib.sha256(name.encode()).hexdigest()
    LayerDescriptor(TAR_GZIP, sha256, len(data), diff_id, f"{name}.whl", architecture).write(f"{directory}/{name}.json")
    return [f"--layer={directory}/{name}", f"--descriptor={directory}/{name}.json"]


def make(directory: Path, *options: str, **definition: Any) -> int:
    """Run the tool; the image is `image` in the directory."""
    document = {"reference": REFERENCE, "architecture": "amd64"} | definition
    (directory / "definition").write_text(json.dumps(document))
    parts = directory / "image.parts"
    parts.write_text("\n".join([f"--definition={directory}/definition", *options]))
    return main(["--label=//:image", f"--image={parts}", f"--layout={directory}/image"])


def files_of(directory: Path) -> dict[str, bytes]:
    """Return the files of an image, by path."""
    image = directory / "image"
    return {str(path.relative_to(image)): path.read_bytes() for path in image.rglob("*") if path.is_file()}


def read(files: dict[str, bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return manifest and config of the one image; every digest is computed again, and no blob is left over."""
    for path, data in files.items():
        if path.startswith("blobs/"):
            assert path == f"blobs/sha256/{hashlib.sha256(data).hexdigest()}"
    used = set()

    def blob(descriptor: dict[str, Any]) -> bytes:
        path = "blobs/" + descriptor["digest"].replace(":", "/")
        assert len(files[path]) == descriptor["size"]
        used.add(path)
        return files[path]

    entry, *referrers = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(blob(entry))
    for one in referrers:
        artifact = json.loads(blob(one))
        assert artifact["subject"].items() <= entry.items()
        for part in (artifact["config"], *artifact["layers"]):
            blob(part)
    config = json.loads(blob(manifest["config"]))
    for one in manifest["layers"]:
        blob(one)
    assert used == {path for path in files if path.startswith("blobs/")}
    assert len(config["rootfs"]["diff_ids"]) == len(manifest["layers"])
    return manifest, config


def test_an_image_from_nothing(tmp_path: Path) -> None:
    layers = [*layer(tmp_path, "core", "amd64"), *layer(tmp_path, "libraries")]
    assert make(tmp_path, *layers, env={"A": "1=2"}, labels={"l": "ï"}) == 0
    files = files_of(tmp_path)
    manifest, config = read(files)
    assert config == {
        "architecture": "amd64",
        "os": "linux",
        "created": "1980-01-01T00:00:00Z",
        "config": {"Env": ["A=1=2"], "Labels": {"l": "ï"}},
        "rootfs": {
            "type": "layers",
            "diff_ids": [f"sha256:{hashlib.sha256(name).hexdigest()}" for name in (b"core", b"libraries")],
        },
        "history": [{"created": "1980-01-01T00:00:00Z", "created_by": f"{name}.whl"} for name in ("core", "libraries")],
    }
    assert "annotations" not in manifest
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (entry,) = json.loads(files["index.json"])["manifests"]
    # containerd and others each look for the name elsewhere.
    assert entry["annotations"] == {
        "io.containerd.image.name": REFERENCE,
        "org.opencontainers.image.ref.name": "1.0-gfx942",
    }
    found = [files["blobs/" + one["digest"].replace(":", "/")] for one in manifest["layers"]]
    assert found == [b"core" * 1000, b"libraries" * 1000]


def sbom(directory: Path, name: str) -> str:
    """Write a bill of materials; return the argument that names it."""
    path = directory / f"{name}_wheel.cdx.json"
    path.write_text(json.dumps({"bomFormat": "CycloneDX", "metadata": {"component": {"name": f"acme-{name}"}}}))
    return f"--sbom={path}"


def test_bills_of_materials_refer_to_the_image(tmp_path: Path) -> None:
    """As the image specification has it: an artifact with an empty config, and the image as subject."""
    names = ("core", "libraries")
    options = [option for name in names for option in (*layer(tmp_path, name), sbom(tmp_path, name))]
    assert make(tmp_path, *options) == 0
    files = files_of(tmp_path)
    read(files)
    image, *entries = json.loads(files["index.json"])["manifests"]
    for name, entry in zip(names, entries, strict=True):
        assert entry["artifactType"] == "application/vnd.cyclonedx+json"
        artifact = json.loads(files["blobs/" + entry["digest"].replace(":", "/")])
        assert artifact["artifactType"] == entry["artifactType"]
        assert artifact["subject"] == {key: image[key] for key in ("mediaType", "digest", "size")}
        assert artifact["config"]["mediaType"] == "application/vnd.oci.empty.v1+json"
        (file,) = artifact["layers"]
        assert file["annotations"] == {"org.opencontainers.image.title": f"acme-{name}.cdx.json"}
        document = json.loads(files["blobs/" + file["digest"].replace(":", "/")])
        assert document["metadata"]["component"]["name"] == f"acme-{name}"


def test_an_image_with_bills_of_materials_is_a_base(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    below = tmp_path / "base"
    assert make(below, *layer(below, "root"), sbom(below, "root")) == 0
    assert make(tmp_path, f"--base={below}/image", *layer(tmp_path, "core")) == 0
    assert len(read(files_of(tmp_path))[0]["layers"]) == 2


def test_images_of_one_layout_share_blobs(tmp_path: Path) -> None:
    """Each is the image that it is alone."""
    shared, alone, options = layer(tmp_path, "core"), [], []
    for name in ("gfx942", "gfx1030"):
        (tmp_path / name).mkdir()
        reference = f"localhost/acme:1.0-{name}"
        assert make(tmp_path / name, *shared, *layer(tmp_path, f"lib-{name}"), reference=reference) == 0
        alone.append(files_of(tmp_path / name))
        options.append(f"--image={tmp_path}/{name}/image.parts")
    assert main(["--label=//:images", *options, f"--layout={tmp_path}/image"]) == 0
    files = files_of(tmp_path)
    together, *each = (json.loads(one["index.json"])["manifests"] for one in (files, *alone))
    assert together == [entry for entries in each for entry in entries]
    of_all = {path: data for one in alone for path, data in one.items() if path.startswith("blobs/")}
    assert {path: data for path, data in files.items() if path.startswith("blobs/")} == of_all


def test_two_images_of_one_name_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(tmp_path, *layer(tmp_path, "core")) == 0
    one = f"--image={tmp_path}/image.parts"
    assert main(["--label=//:images", one, one, f"--layout={tmp_path}/twice"]) == 1
    assert capsys.readouterr().err == (
        f"ERROR: //:images: {REFERENCE}: two images have this reference; expected one. Give one of them another tag\n"
    )
    assert not (tmp_path / "twice").exists()


@pytest.mark.parametrize("content", ["[]", "{}", '{"metadata": 1}'])
def test_what_is_no_bill_of_materials_is_refused(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sbom").write_text(content)
    assert make(tmp_path, *layer(tmp_path, "core"), f"--sbom={tmp_path}/sbom") == 1
    assert "has no metadata.component.name; expected CycloneDX" in capsys.readouterr().err


def test_annotations_of_the_layers_of_a_base_stay(tmp_path: Path) -> None:
    """Without the digest of its table of contents, no engine pulls a layer of eStargz lazily."""
    about = {"containerd.io/snapshot/stargz/toc.digest": "sha256:0"}
    assert make(tmp_path, *layer(tmp_path, "core")) == 0
    base = tmp_path / "image"
    index = json.loads((base / "index.json").read_bytes())
    manifest = json.loads((base / "blobs" / index["manifests"][0]["digest"].replace(":", "/")).read_bytes())
    manifest["layers"][0]["annotations"] = about
    data = json.dumps(manifest).encode()
    digest = hashlib.sha256(data).hexdigest()
    (base / "blobs/sha256" / digest).write_bytes(data)
    index["manifests"][0] |= {"digest": f"sha256:{digest}", "size": len(data)}
    (base / "index.json").write_text(json.dumps(index))
    (tmp_path / "above").mkdir()
    assert make(tmp_path / "above", f"--base={base}", *layer(tmp_path / "above", "more")) == 0
    assert read(files_of(tmp_path / "above"))[0]["layers"][0]["annotations"] == about


def test_layers_are_linked_to_and_bytes_do_not_depend_on_the_directory(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert make(tmp_path / name, *layer(tmp_path / name, "core")) == 0
        assert (tmp_path / name / "core").stat().st_nlink == 2
        found.append(files_of(tmp_path / name))
    assert found[0] == found[1]


def base_image(directory: Path, **definition: Any) -> Path:
    """Write an image to base others on; return its path."""
    (directory / "base").mkdir()
    settings = {"env": {"PATH": "/bin", "A": "base"}, "labels": {"b": "1"}}
    assert make(directory / "base", *layer(directory / "base", "root"), **settings | definition) == 0
    return directory / "base/image"


def test_an_image_on_a_base(tmp_path: Path) -> None:
    base = base_image(tmp_path)
    below, _ = read(files_of(base.parent))
    digest = json.loads((base / "index.json").read_bytes())["manifests"][0]["digest"]
    assert make(tmp_path, f"--base={base}", *layer(tmp_path, "core"), env={"A": "own", "B": "2"}) == 0
    manifest, config = read(files_of(tmp_path))
    assert config["config"] == {
        "Env": ["PATH=/bin", "A=own", "B=2"],
        "Labels": {"b": "1"},
    }
    assert [one["created_by"] for one in config["history"]] == ["root.whl", "core.whl"]
    assert manifest["layers"][0] == below["layers"][0]
    assert manifest["annotations"] == {"org.opencontainers.image.base.digest": digest}


def root_tar(path: Path, mode: Any, name: str = "./etc/os-release") -> Path:
    """Write the tar of a root file system."""
    with tarfile.open(path, mode) as archive:
        member = tarfile.TarInfo(name)
        member.size = 100_000
        archive.addfile(member, io.BytesIO(bytes(range(250)) * 400))
    return path


@pytest.mark.parametrize("media_type", [TAR, TAR_GZIP])
def test_a_root_file_system_is_a_base(media_type: str, tmp_path: Path) -> None:
    """What follows the end of a tar belongs to the layer, too."""
    inflated = root_tar(tmp_path / "root", "w").read_bytes() + bytes(3 << 20)
    data = gzip.compress(inflated) if media_type == TAR_GZIP else inflated
    (tmp_path / "root").write_bytes(data)
    assert make(tmp_path, f"--base={tmp_path}/root", *layer(tmp_path, "core")) == 0
    manifest, config = read(files_of(tmp_path))
    assert manifest["layers"][0]["mediaType"] == media_type
    assert manifest["layers"][0]["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert config["rootfs"]["diff_ids"][0] == f"sha256:{hashlib.sha256(inflated).hexdigest()}"


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_root_file_system_that_is_cut_is_refused(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = root_tar(tmp_path / "root", mode)
    data = path.read_bytes()
    for length in (len(data) // 2, 600):
        path.write_bytes(data[: min(length, len(data) - 9)])
        assert make(tmp_path, f"--base={path}", *layer(tmp_path, "core")) == 1
        assert f"{path}: cannot be read as a tar: " in capsys.readouterr().err


def test_a_root_file_system_that_is_damaged_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root_tar(tmp_path / "root", "w:gz")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    assert make(tmp_path, f"--base={path}", *layer(tmp_path, "core")) == 1
    assert f"{path}: cannot be read as a tar: " in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_the_tar_of_a_layout_is_refused(mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root_tar(tmp_path / "layout.tar", mode, "oci-layout")
    assert make(tmp_path, f"--base={path}", *layer(tmp_path, "core")) == 1
    assert f"{path}: a tar of an OCI image layout; expected its directory. Unpack it" in capsys.readouterr().err


def test_of_an_index_the_image_for_the_cpu_is_taken(tmp_path: Path) -> None:
    base = base_image(tmp_path)
    index = json.loads((base / "index.json").read_bytes())
    other = {"os": "linux", "architecture": "arm64"}
    index["manifests"].insert(0, index["manifests"][0] | {"platform": other, "digest": "sha256:" + "0" * 64})
    (base / "index.json").write_text(json.dumps(index))
    assert make(tmp_path, f"--base={base}", *layer(tmp_path, "core")) == 0
    assert len(read(files_of(tmp_path))[0]["layers"]) == 2


def _damaged(base: Path) -> None:
    path = max((base / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(b"X" + data[1:])


def _without_layer(base: Path) -> None:
    max((base / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size).unlink()


def _leading_out(base: Path) -> None:
    index = json.loads((base / "index.json").read_bytes())
    index["manifests"][0]["digest"] = "sha256:../../../../etc/passwd"
    (base / "index.json").write_text(json.dumps(index))


def _no_json(base: Path) -> None:
    (base / "index.json").write_text("{")


def _no_object(base: Path) -> None:
    (base / "index.json").write_text("[]")


def _no_descriptors(base: Path) -> None:
    (base / "index.json").write_text('{"manifests": ["sha256"]}')


def _no_layout(base: Path) -> None:
    (base / "oci-layout").unlink()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_damaged, "has 4000 bytes with SHA-256 "),
        (_without_layer, "; expected a complete OCI image layout. Copy the base again"),
        (_leading_out, "a digest is 'sha256:../../../../etc/passwd'; expected `sha256:` and 64 digits"),
        (_no_json, "index.json: expected a JSON document"),
        (_no_object, "index.json: expected a JSON object"),
        (_no_descriptors, "`manifests`: expected a list of descriptors"),
        (_no_layout, "has no oci-layout; expected an OCI image layout, or the tar of a root file system"),
    ],
)
def test_a_bad_base_is_refused(
    change: Callable[[Path], None], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = base_image(tmp_path)
    change(base)
    assert make(tmp_path, f"--base={base}", *layer(tmp_path, "core")) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"ERROR: //:image: {base}: ")
    assert message in error


def test_a_base_for_another_platform_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = base_image(tmp_path, architecture="arm64")
    assert make(tmp_path, f"--base={base}", *layer(tmp_path, "core")) == 1
    assert "0 of 1 images are for linux/amd64; expected one" in capsys.readouterr().err
    index = json.loads((base / "index.json").read_bytes())
    del index["manifests"][0]["platform"]
    (base / "index.json").write_text(json.dumps(index))
    assert make(tmp_path, f"--base={base}", *layer(tmp_path, "core")) == 1
    assert "the base is for linux/arm64; expected linux/amd64" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"no tar", b"\x1f\x8b" + bytes(1000)])
def test_a_file_that_is_no_base_is_refused(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "base").write_bytes(content)
    assert make(tmp_path, f"--base={tmp_path}/base", *layer(tmp_path, "core")) == 1
    assert f"{tmp_path}/base: cannot be read as a tar: " in capsys.readouterr().err


def test_a_layer_for_another_cpu_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(tmp_path, *layer(tmp_path, "core", "arm64")) == 1
    assert capsys.readouterr().err == (
        "ERROR: //:image: core.whl: the layer is for arm64; expected amd64. Leave it out, or set `architecture`\n"
    )


@pytest.mark.parametrize("reference", ["rocm", "rocm:1.0", "localhost/ROCm:1.0", "localhost/rocm:1.0+local", ""])
def test_a_name_that_no_engine_takes_is_refused(
    reference: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make(tmp_path, *layer(tmp_path, "core"), reference=reference) == 1
    assert f"reference is {reference!r}; expected HOST/NAME:TAG" in capsys.readouterr().err
