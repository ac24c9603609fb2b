"""Tests of the layer of a devel package: its tree, with links to the files of other packages."""

import importlib.util
import json
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from lib.deflate.library import deflate_block
from lib.wheel.deflated_run import small_run
from lib.wheel.wheel_writer import text_member, write_wheel
from tools.actions.layer.tool import main

SITE = "usr/lib/python3/dist-packages"
CLANG = b"\x7fELF clang"
LIBRARY = b"\x7fELF library"
HEADER = b"// acme\n" * 9000
MODULE = Path("rules/runtime/devel_tree.py")
LINKS = {
    "bin/clang": "../../_core/bin/clang",
    "bin/clang++": "clang",
    "lib/libacme.so": "libacme.so.1",
    "lib/libacme.so.1": "../../_core/lib/libacme.so.1",
    "lib/libgpu.so": "libgpu.so.1",
    "lib/libother.so": "../../_other/lib/libother.so",
    "lib64": "lib",
}


def wheel(directory: Path, name: str, files: dict[str, tuple[bytes, int]]) -> str:
    """Write the wheel of a package; return its path."""
    path = directory / f"{name}-1.0-py3-none-linux_x86_64.whl"
    with path.open("wb") as file:
        write_wheel(file, [text_member(one, *content) for one, content in files.items()], f"{name}-1.0.dist-info")
    return str(path)


def manifest(links: dict[str, str], **facts: object) -> tuple[bytes, int]:
    """Return a manifest of links."""
    listed = [{"relpath": path, "target": text} for path, text in links.items()]
    return json.dumps({"version": "1.0", **facts, "links": listed}).encode(), 0o644


class Sdk:
    """Three packages: core, a devel package that links to it, and a package for a GPU target."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.core = wheel(
            directory, "core", {"_core/bin/clang": (CLANG, 0o755), "_core/lib/libacme.so.1": (LIBRARY, 0o755)}
        )
        names = ("lib/libgpu.so.1", "d.co")
        gpu = {
            "_gpu/lib/libgpu.so.1": (LIBRARY, 0o755),
            "_gpu/lib/libgpu.so": (b"forwarder", 0o755),
            "_gpu/d.co": (b"d", 0o644),
            "_gpu/.devel_links/gpu.json": manifest(
                {name: "../" * (1 + name.count("/")) + f"_gpu/{name}" for name in names}
            ),
        }
        self.gpu = wheel(directory, "gpu", gpu)
        self.files = {
            "devel/__init__.py": (MODULE.read_bytes(), 0o644),
            "devel/.devel_links/devel.json": manifest(LINKS, tree="_devel", trees=["_gpu"]),
            "devel/.devel_links/devel.journal": (b"", 0o644),
            "_devel/include/acme.h": (HEADER, 0o664),
            "_devel/__init__.py": (b"# tree\n", 0o644),
        }
        self.devel = wheel(directory, "devel", self.files)

    def layer(self, name: str, *options: str) -> dict[str, tarfile.TarInfo]:
        """Make a layer of the devel package; return its members."""
        top = self.directory
        arguments = ["--label=//:devel", f"--wheel={self.devel}", f"--layer={top}/{name}"]
        arguments += [f"--site-packages={SITE}", "--scripts=usr/local/bin", "--python=/usr/bin/python3"]
        assert main([*arguments, "--devel", f"--beside={self.core}", *options]) == 0
        with tarfile.open(top / name) as archive:
            return {member.name: member for member in archive}


@pytest.fixture
def sdk(tmp_path: Path) -> Sdk:
    """Return an SDK."""
    return Sdk(tmp_path)


def of_tree(members: dict[str, tarfile.TarInfo]) -> dict[str, str]:
    """Return the members of the tree that are no directories, and the texts of links."""
    top = f"{SITE}/_devel/"
    return {
        name.removeprefix(top): one.linkname
        for name, one in members.items()
        if name.startswith(top) and not one.isdir()
    }


def test_links_are_made(sdk: Sdk) -> None:
    members = sdk.layer("layer")
    assert of_tree(members) == {
        "__init__.py": "",
        "bin/clang": "",
        "bin/clang++": "clang",
        "include/acme.h": "",
        "lib/libacme.so": "libacme.so.1",
        "lib/libacme.so.1": "../../_core/lib/libacme.so.1",
        "lib64": "lib",
    }
    modes = {name: members[f"{SITE}/_devel/{name}"].mode for name in ("bin/clang", "include/acme.h", "lib64")}
    assert modes == {"bin/clang": 0o755, "include/acme.h": 0o644, "lib64": 0o777}


def unpacked(directory: Path, *layers: Path) -> Path:
    """Unpack layers, one over the other; return site-packages."""
    for layer in layers:
        with tarfile.open(layer) as archive:
            archive.extractall(directory, filter="tar")
    return directory / SITE


def test_a_program_is_copied_and_all_names_have_the_bytes_of_the_files(sdk: Sdk, tmp_path: Path) -> None:
    sdk.layer("layer")
    for_core = ["--label=//:core", f"--wheel={sdk.core}", f"--layer={tmp_path}/core"]
    assert main([*for_core, f"--site-packages={SITE}", "--scripts=bin", "--python=/usr/bin/python3"]) == 0
    tree = unpacked(tmp_path / "image", tmp_path / "core", tmp_path / "layer") / "_devel"
    assert (tree / "bin/clang++").read_bytes() == (tree / "bin/clang").read_bytes() == CLANG
    assert not (tree / "bin/clang").is_symlink()
    assert (tree / "lib64/libacme.so").read_bytes() == LIBRARY
    assert (tree / "include/acme.h").read_bytes() == HEADER
    assert (tree / "__init__.py").read_text() == "# tree\n"


def test_record_names_the_files_the_links_and_the_tree(sdk: Sdk, tmp_path: Path) -> None:
    sdk.layer("layer")
    site = unpacked(tmp_path / "image", tmp_path / "layer")
    rows = [line.split(",") for line in (site / "devel-1.0.dist-info/RECORD").read_text().splitlines()]
    assert [path for path, _, _ in rows if not (site / path).is_file() and not (site / path).is_symlink()] == ["_devel"]
    links = ("bin/clang", "bin/clang++", "lib/libacme.so", "lib/libacme.so.1", "lib64")
    assert {path for path, digest, _ in rows if not digest} == {
        *("_devel", "devel/.devel_links/devel.state", "devel-1.0.dist-info/RECORD"),
        *(f"_devel/{path}" for path in links),
    }


def load(path: Path) -> ModuleType:
    """Import a module from a file."""
    spec = importlib.util.spec_from_file_location(path.parent.name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("above", [False, True])
def test_the_runtime_module_finds_the_tree_and_makes_nothing(sdk: Sdk, tmp_path: Path, above: bool) -> None:
    sdk.layer("layer")
    layers = []
    for name in ("core", "gpu") if above else ("core",):
        arguments = ["--label=//:x", f"--wheel={getattr(sdk, name)}", f"--layer={tmp_path}/{name}"]
        arguments += [f"--site-packages={SITE}", "--scripts=bin", "--python=/python"]
        assert main(arguments) == 0
        layers.append(tmp_path / name)
    if above:
        sdk.layer("above", f"--links-to={sdk.gpu}")
        layers.append(tmp_path / "above")
    site = unpacked(tmp_path / "image", tmp_path / "layer", *layers)
    before = {path: path.lstat() for path in sorted(site.rglob("*"))}
    module = load(site / "devel/__init__.py")
    assert module.root() == site / "_devel"
    tree = module.DevelTree(str(site / "devel"), command="init")
    assert module.glance(tree.package) == tree.root(verify=True)
    assert tree.faults() == []
    after = {path: path.lstat() for path in sorted(site.rglob("*")) if "__pycache__" not in path.parts}
    assert {path: one.st_ino for path, one in after.items()} == {path: one.st_ino for path, one in before.items()}


def test_the_links_to_a_package_for_a_gpu_are_a_layer_above(sdk: Sdk, tmp_path: Path) -> None:
    above = sdk.layer("above", f"--links-to={sdk.gpu}")
    assert of_tree(above) == {
        "d.co": "../_gpu/d.co",
        # The devel package's own link, which leads somewhere only now; and no link to the forwarder of this name.
        "lib/libgpu.so": "libgpu.so.1",
        "lib/libgpu.so.1": "../../_gpu/lib/libgpu.so.1",
    }
    assert any(name.endswith("devel-1.0.dist-info/RECORD") for name in above)
    assert not of_tree(above).keys() & of_tree(sdk.layer("layer")).keys()


def test_no_byte_of_the_tree_is_compressed_again(sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deflated: list[int] = []

    def counted(data: bytes, level: int) -> bytes:
        deflated.append(len(data))
        return deflate_block(data, level)

    monkeypatch.setattr("lib.wheel.deflated_run.deflate_block", counted)
    sdk.layer("layer")
    assert max(deflated) < len(HEADER)
    assert small_run(HEADER).data in (tmp_path / "layer").read_bytes()


def test_other_wheels_are_refused(sdk: Sdk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archived = wheel(tmp_path, "archived", {**sdk.files, "devel/_devel.tar": (b"", 0o644)})
    said = {
        (sdk.core, sdk.core): "0 manifests .devel_links/devel.json; expected one. Build the wheel again",
        (archived, sdk.core): "devel/_devel.tar has the tree; expected files. Build the wheel without an archive",
    }
    for (sdk.devel, sdk.core), words in said.items():
        with pytest.raises(AssertionError):
            sdk.layer("layer")
        assert words in capsys.readouterr().err
