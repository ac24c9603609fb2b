"""Tests of the layer of a devel package: its tree, unpacked, with links to the files of other packages."""

import hashlib
import importlib.util
import json
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from lib.deflate.library import deflate_block
from lib.pack.segment import Packed, SegmentIndex
from lib.plan.model import Entry, Kind, Plan, Treatment
from lib.wheel.deflated_run import small_run
from lib.wheel.wheel_writer import text_member, write_wheel
from tools.actions.layer.tool import main

SITE = "usr/lib/python3/dist-packages"
CLANG = b"\x7fELF clang"
LIBRARY = b"\x7fELF library"
HEADER = b"// acme\n" * 9000
MODULE = Path("rules/runtime/devel_tree.py")


def wheel(directory: Path, name: str, files: dict[str, tuple[bytes, int]]) -> str:
    """Write the wheel of a package; return its path."""
    path = directory / f"{name}-1.0-py3-none-linux_x86_64.whl"
    with path.open("wb") as file:
        write_wheel(file, [text_member(one, *content) for one, content in files.items()], f"{name}-1.0.dist-info")
    return str(path)


def link(path: str, target: str) -> Entry:
    """Return an entry that is a link in the tree."""
    return Entry(path, Kind.LINK, Treatment.LINK_TO, "link", f"acme/{path}", target=target)


def file(path: str) -> Entry:
    """Return an entry of the devel package's own."""
    return Entry(path, Kind.FILE, Treatment.KEEP, "file", f"acme/{path}")


ENTRIES = (
    link("bin/clang", "../../_core/bin/clang"),
    link("bin/clang++", "clang"),
    Entry("empty", Kind.DIRECTORY, Treatment.KEEP, "directory", "acme/empty", mode="0500"),
    file("include/acme.h"),
    Entry("include/old.h", Kind.FILE, Treatment.DROP, "excluded", "acme/include/old.h"),
    link("lib/libacme.so", "libacme.so.1"),
    link("lib/libacme.so.1", "../../_core/lib/libacme.so.1"),
    link("lib/libgpu.so", "libgpu.so.1"),
    link("lib/libother.so", "../../_other/lib/libother.so"),
    link("lib64", "lib"),
)


class Sdk:
    """Three packages: core, a devel package that links to it, and a package for a GPU target."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.core = wheel(
            directory, "core", {"_core/bin/clang": (CLANG, 0o755), "_core/lib/libacme.so.1": (LIBRARY, 0o755)}
        )
        gpu = {
            "_gpu/lib/libgpu.so.1": (LIBRARY, 0o755),
            "_gpu/lib/libgpu.so": (b"forwarder", 0o755),
            "_gpu/d.co": (b"d", 0o644),
        }
        self.gpu = wheel(directory, "gpu", gpu)
        glue = {"devel/__init__.py": MODULE.read_bytes(), "devel/_devel.tar": b"tar", "devel/_devel.lock": b""}
        self.devel = wheel(directory, "devel", {name: (content, 0o644) for name, content in glue.items()})
        self._write_plans()
        (directory / "module.py").write_text("# tree\n")

    def _write_plans(self) -> None:
        run = small_run(HEADER)
        packed = Packed(
            "include/acme.h", "0664", 0, run.length, run.size, run.crc32, hashlib.sha256(HEADER).hexdigest()
        )
        forwarder = Entry("lib/libgpu.so", Kind.LINK, Treatment.FORWARDER, "name", "acme/lib/libgpu.so")
        documents = {
            "plan": Plan("devel", "_devel", per_target=False, entries=ENTRIES).to_document(),
            "gpu_plan": Plan("gpu", "_gpu", per_target=True, entries=(forwarder,)).to_document(),
            "index": SegmentIndex((packed,), {}).to_document(),
        }
        for name, document in documents.items():
            (self.directory / name).write_text(json.dumps(document))
        (self.directory / "segment").write_bytes(run.data)

    def layer(self, name: str, *options: str) -> dict[str, tarfile.TarInfo]:
        """Make a layer of the devel package; return its members."""
        top = self.directory
        arguments = [
            "--label=//:devel",
            f"--wheel={self.devel}",
            f"--layer={top}/{name}",
            f"--descriptor={top}/{name}.json",
        ]
        arguments += [f"--site-packages={SITE}", "--scripts=usr/local/bin", "--python=/usr/bin/python3"]
        arguments += [f"--plan={top}/plan", f"--index={top}/index", f"--segment={top}/segment", f"--beside={self.core}"]
        assert main([*arguments, *options, f"{{tree}}/__init__.py={top}/module.py"]) == 0
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


def test_the_tree_is_unpacked(sdk: Sdk) -> None:
    members = sdk.layer("layer")
    assert of_tree(members) == {
        ".devel-tree.json": "",
        "__init__.py": "",
        "bin/clang": "",
        "bin/clang++": "clang",
        "include/acme.h": "",
        "lib/libacme.so": "libacme.so.1",
        "lib/libacme.so.1": "../../_core/lib/libacme.so.1",
        "lib64": "lib",
    }
    modes = {name: members[f"{SITE}/_devel/{name}"].mode for name in ("bin/clang", "empty", "include/acme.h", "lib64")}
    assert modes == {"bin/clang": 0o755, "empty": 0o755, "include/acme.h": 0o644, "lib64": 0o777}
    assert {name for name in members if "/devel/" in name} == {f"{SITE}/devel/__init__.py"}


def unpacked(directory: Path, *layers: Path) -> Path:
    """Unpack layers, one over the other; return site-packages."""
    for layer in layers:
        with tarfile.open(layer) as archive:
            archive.extractall(directory, filter="tar")
    return directory / SITE


def test_a_program_is_copied_and_all_names_have_the_bytes_of_the_files(sdk: Sdk, tmp_path: Path) -> None:
    sdk.layer("layer")
    for_core = [
        "--label=//:core",
        f"--wheel={sdk.core}",
        f"--layer={tmp_path}/core",
        f"--descriptor={tmp_path}/core.json",
    ]
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
    assert {path for path, digest, _ in rows if not digest} == {
        *("_devel", "_devel/bin/clang++", "_devel/lib/libacme.so", "_devel/lib/libacme.so.1", "_devel/lib64"),
        "devel-1.0.dist-info/RECORD",
    }


def load(path: Path) -> ModuleType:
    """Import a module from a file."""
    spec = importlib.util.spec_from_file_location(path.parent.name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_runtime_module_finds_the_tree_and_unpacks_nothing(sdk: Sdk, tmp_path: Path) -> None:
    sdk.layer("layer")
    site = unpacked(tmp_path / "image", tmp_path / "layer")
    before = sorted(site.rglob("*"))
    assert load(site / "devel/__init__.py").root() == site / "_devel"
    assert [path for path in sorted(site.rglob("*")) if "__pycache__" not in path.parts] == before
    (site / "_devel/.devel-tree.json").write_text('{"package": "other"}')
    with pytest.raises(FileNotFoundError, match=r"has no _devel\.tar: a plain devel package"):
        load(site / "devel/__init__.py").root()


def test_the_links_to_a_package_for_a_gpu_are_a_layer_above(sdk: Sdk, tmp_path: Path) -> None:
    above = sdk.layer("above", f"--links-to={sdk.gpu}", f"--links-to-plan={sdk.directory}/gpu_plan")
    assert of_tree(above) == {
        "d.co": "../_gpu/d.co",
        # The archive's own link, which leads somewhere only now; and no link to the forwarder of this name.
        "lib/libgpu.so": "libgpu.so.1",
        "lib/libgpu.so.1": "../../_gpu/lib/libgpu.so.1",
    }
    assert not any(name.endswith("RECORD") for name in above)
    assert (
        json.loads((tmp_path / "above.json").read_text())["history"]
        == f"{Path(sdk.devel).name}: links to {Path(sdk.gpu).name}"
    )
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
    assert json.loads((tmp_path / "layer.json").read_text())["recompressed"] == 0


def test_the_wheel_of_another_package_is_refused(sdk: Sdk, capsys: pytest.CaptureFixture[str]) -> None:
    sdk.devel = sdk.core
    with pytest.raises(AssertionError):
        sdk.layer("layer")
    assert "0 archives _devel.tar; expected one. Build the wheel again\n" in capsys.readouterr().err
