"""Tests of the merge of artifacts into one install prefix."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hip.tools.prefix.build_file import find_compiler
from hip.tools.prefix.merge import LISTS, files_of_packages, merge
from hip.tools.prefix.repository import main
from tools.fetch.catalog import catalog
from tools.fetch.catalog.names import CatalogError


class Artifacts:
    """Artifacts as the catalog leaves them, each in a repository of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.output = root / "prefix"
        self.manifests: list[Path] = []

    def add(self, name: str, files: dict[str, str], links: dict[str, str] | None = None) -> None:
        """Add an artifact: the contents of files, and the texts of links."""
        folder = self.root / "artifacts" / name / f"{name}_lib_generic" / "stage"
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8")
        for path, target in (links or {}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).symlink_to(target)
        (folder.parent / "artifact_manifest.txt").write_text("stage\n", encoding="utf-8")
        repository = self.root / f"repository_{name}"
        repository.mkdir()
        arguments = [f"--artifacts={folder.parents[1]}", f"--repository=repository_{name}", f"--output={repository}"]
        assert catalog.main(arguments) == 0
        self.manifests.append(repository / "manifests" / f"{name}_lib_generic.json")

    def merged(self) -> dict[str, str]:
        """Merge them; return the contents of files, and the texts of the links that stay as `-> text`."""
        merge(self.manifests, self.output)
        found = {}
        for directory, names, files in os.walk(self.output):
            for path in (Path(directory, name) for name in (*names, *files)):
                text = str(path.readlink()) if path.is_symlink() else "/"
                if not text.startswith("/"):
                    found[path.relative_to(self.output).as_posix()] = f"-> {text}"
                elif path.is_file():
                    found[path.relative_to(self.output).as_posix()] = path.read_text(encoding="utf-8")
        return found

    def refusal(self) -> str:
        """Return why they cannot be merged."""
        with pytest.raises(CatalogError) as caught:
            merge(self.manifests, self.output)
        return str(caught.value)


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path)


def test_files_of_all_artifacts_lie_side_by_side(artifacts: Artifacts) -> None:
    artifacts.add("blas", {"lib/libblas.so.1": "blas", "include/blas.h": "header", "share/a b/ï+@": "odd name"})
    artifacts.add("fft", {"lib/libfft.so.2": "fft"}, {"lib/libfft.so": "libfft.so.2"})
    assert artifacts.merged() == {
        "include/blas.h": "header",
        "lib/libblas.so.1": "blas",
        "lib/libfft.so": "-> libfft.so.2",
        "lib/libfft.so.2": "fft",
        "share/a b/ï+@": "odd name",
    }


def test_files_are_links_to_those_of_the_repositories(artifacts: Artifacts) -> None:
    artifacts.add("blas", {"lib/libblas.so.1": "before"})
    artifacts.merged()
    link = artifacts.output / "lib/libblas.so.1"
    assert link.readlink() == artifacts.root / "repository_blas/files/blas_lib_generic/stage/lib/libblas.so.1"
    (artifacts.root / "artifacts/blas/blas_lib_generic/stage/lib/libblas.so.1").write_text("after", encoding="utf-8")
    assert link.read_text(encoding="utf-8") == "after"


def test_equal_files_and_links_of_two_artifacts(artifacts: Artifacts) -> None:
    for name in ("blas", "fft"):
        artifacts.add(name, {"share/licence": "same"}, {"licence": "share/licence"})
    assert artifacts.merged() == {"share/licence": "same", "licence": "-> share/licence"}


@pytest.mark.parametrize(
    ("files", "links"),
    [({"a/x": "other"}, {}), ({"b": "x"}, {"a/x": "../b"}), ({"a/y": ""}, {"l": "a/y"}), ({"l": "file"}, {})],
)
def test_one_path_with_different_content(files: dict[str, str], links: dict[str, str], artifacts: Artifacts) -> None:
    artifacts.add("blas", {"a/x": "one", "a/z": ""}, {"l": "a/z"})
    artifacts.add("fft", files, links)
    error = artifacts.refusal()
    assert error.startswith(("a/x: ", "l: "))
    assert "the artifacts blas_lib_generic and fft_lib_generic have it with different content" in error
    assert error.endswith("Replace one of the artifacts")


def with_two_base_directories(root: Path, *contents: str) -> Path:
    """Return the manifest of an artifact that has a file in each of several base directories."""
    entries = []
    for at, content in enumerate(contents):
        (root / f"files/{at}").mkdir(parents=True)
        (root / f"files/{at}/x").write_text(content, encoding="utf-8")
        entries.append({"path": "lib/x", "kind": "file", "file": f"../r/files/{at}/x"})
    manifest = root / "manifests/blas_lib_generic.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"artifact": "blas_lib_generic", "entries": entries}), encoding="utf-8")
    return manifest


def test_equal_files_of_one_artifact(tmp_path: Path) -> None:
    merge([with_two_base_directories(tmp_path / "r", "same", "same")], tmp_path / "prefix")
    assert (tmp_path / "prefix/lib/x").readlink() == tmp_path / "r/files/0/x"


def test_different_files_of_one_artifact(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="lib/x: the artifact blas_lib_generic has it twice, with different content"):
        merge([with_two_base_directories(tmp_path / "r", "one", "two")], tmp_path / "prefix")


@pytest.mark.parametrize(("path", "above"), [("lib/file/x", "lib/file"), ("lib64/deep/x", "lib64")])
def test_a_path_below_something_that_is_no_directory(path: str, above: str, artifacts: Artifacts) -> None:
    artifacts.add("blas", {"lib/file": ""}, {"lib64": "lib"})
    artifacts.add("fft", {path: ""})
    assert f"{path} of the artifact fft_lib_generic lies below {above} of blas_lib_generic" in artifacts.refusal()


#: Links -> which of them stay, beside the files a/b/file, include/hsa/hsa.h and lib/libx.so.1.
LINKS: list[tuple[dict[str, str], list[str]]] = [
    ({"lib/libx.so": "libx.so.1", "lib64": "lib", "opt/lib": "../lib"}, ["lib/libx.so", "lib64", "opt/lib"]),
    ({"one": "two", "two": "lib/three", "lib/three": "libx.so.1"}, ["lib/three", "one", "two"]),
    # Through a link to a directory, and back up from where that leads.
    ({"lib64": "a/b", "x": "lib64/file", "y": "lib64/../lib"}, ["lib64", "x"]),
    # Nothing there, or not in the prefix.
    ({"lib/liby.so": "liby.so.1", "x": "lib/libx.so.1/y", "y": "lib/libx.so.1/../libx.so.1"}, []),
    # Among themselves.
    ({"x": "y", "y": "x", "z": "z", "lib/w": "../x"}, []),
    # To a directory around themselves: in front of all others that lead through them.
    ({"include/hsa/hsa": ".", "root": ".", "a/b/up": "..", "a/b/top": "../.."}, []),
    ({"include/hsa/hsa": ".", "header": "include/hsa/hsa/hsa.h"}, []),
    # Around each other: the first stays.
    ({"a/to_lib": "../lib", "lib/to_a": "../a"}, ["a/to_lib"]),
    (
        {"a/b/to_lib": "../../lib", "lib/to_include": "../include", "include/to_a": "../a"},
        ["a/b/to_lib", "include/to_a"],
    ),
]


@pytest.mark.parametrize(("links", "staying"), LINKS)
def test_links_that_stay(links: dict[str, str], staying: list[str], artifacts: Artifacts) -> None:
    files = {"a/b/file": "", "include/hsa/hsa.h": "", "lib/libx.so.1": ""}
    artifacts.add("core", files, links)
    merged = artifacts.merged()
    assert sorted(set(merged) - set(files)) == staying
    for path in staying:
        assert (artifacts.output / path).exists(), "it leads somewhere"
    # Whoever follows all links comes to an end.
    walked = [directory for directory, _, _ in os.walk(artifacts.output, followlinks=True)]
    assert len(walked) < 30


def test_many_links_take_no_time_of_the_number_of_files(artifacts: Artifacts) -> None:
    artifacts.add(
        "core", {f"lib/{at}/file": "" for at in range(300)}, {f"link{at}": f"lib/{at}/file" for at in range(300)}
    )
    assert len(artifacts.merged()) == 600


ENTRY = {"path": "a", "kind": "file", "file": "../r/files/a"}


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"null",
        {},
        {"artifact": "a"},
        {"artifact": "a", "entries": None},
        {"artifact": "a", "entries": [1]},
        {"artifact": "a", "entries": [{}]},
        {"artifact": "a", "entries": [ENTRY | {"file": "no slashes"}]},
        {"artifact": "a", "entries": [ENTRY | {"file": 3}]},
        {"artifact": "a", "entries": [{"path": "a", "kind": "link"}]},
    ],
)
def test_a_damaged_manifest(document: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "repository" / "manifests" / "a.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    assert main([f"--output={tmp_path / 'output'}", "--cmake=none", f"--manifest={file}"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{file}: expected the manifest of an artifact (")
    assert error.count("\n") == 1


def test_a_manifest_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"--output={tmp_path / 'output'}", "--cmake=none", f"--manifest={tmp_path / 'm/a.json'}"]) == 1
    assert "a.json: expected the manifest of an artifact" in capsys.readouterr().err


def test_artifacts_without_files(artifacts: Artifacts) -> None:
    artifacts.add("empty", {}, {"lib64": "lib"})
    assert "there are no files for it; expected artifacts" in artifacts.refusal()


def test_a_file_that_is_gone(artifacts: Artifacts, capsys: pytest.CaptureFixture[str]) -> None:
    artifacts.add("blas", {"x": "same"})
    artifacts.add("fft", {"x": "same"})
    (artifacts.root / "artifacts/fft/fft_lib_generic/stage/x").unlink()
    assert (
        main([f"--output={artifacts.output}", "--cmake=none", *(f"--manifest={one}" for one in artifacts.manifests)])
        == 1
    )
    assert "No such file" in capsys.readouterr().err


def test_an_sdk_that_is_installed(tmp_path: Path) -> None:
    """Links out of it, such as rocm-sdk-devel's to other packages, count as the files that they lead to."""
    root = tmp_path / "site/_devel"
    (tmp_path / "site/_core/lib").mkdir(parents=True)
    (tmp_path / "site/_core/lib/libone.so.1").write_text("one", encoding="utf-8")
    (root / "lib/deep").mkdir(parents=True)
    (root / "lib/libtwo.so.2").write_text("two", encoding="utf-8")
    links = {
        "lib/libone.so.1": "../../_core/lib/libone.so.1",
        "lib/libone.so": "libone.so.1",
        "lib/absolute": str(tmp_path / "site/_core/lib/libone.so.1"),
        "lib64": "lib",
        "lib/deep/up": "..",
        "lib/gone": "../../gone",
        "llvm": str(tmp_path / "elsewhere/llvm"),
    }
    (tmp_path / "elsewhere/llvm/bin").mkdir(parents=True)
    (tmp_path / "elsewhere/llvm/bin/clang").write_text("clang", encoding="utf-8")
    (tmp_path / "elsewhere/llvm/clang").symlink_to("bin/clang")
    (tmp_path / "elsewhere/llvm/again").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/sdk").symlink_to(root)
    for path, target in links.items():
        (root / path).symlink_to(target)
    merge([], tmp_path / "prefix", root)
    found = {path.relative_to(tmp_path / "prefix").as_posix() for path in (tmp_path / "prefix").rglob("*")}
    libraries = {"lib/absolute", "lib/libone.so", "lib/libone.so.1", "lib/libtwo.so.2"}
    assert found == {*libraries, "lib", "lib64", "llvm", "llvm/bin", "llvm/bin/clang", "llvm/clang"}
    assert (tmp_path / "prefix/llvm/clang").read_text(encoding="utf-8") == "clang"
    assert (tmp_path / "prefix/lib/libone.so").read_text(encoding="utf-8") == "one"
    assert (tmp_path / "prefix/lib64").readlink() == Path("lib")


def test_a_directory_without_files(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="there are no files for it"):
        merge([], tmp_path / "prefix", tmp_path)


def test_a_directory_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sdk/lib").mkdir(parents=True)
    (tmp_path / "sdk/lib/x").write_text("x", encoding="utf-8")

    def walk(root: Path, onerror: Any) -> Any:
        onerror(PermissionError(13, "Permission denied", str(root / "lib")))
        return ()

    monkeypatch.setattr(os, "walk", walk)
    with pytest.raises(CatalogError, match="/lib: Permission denied; expected a directory that Bazel may read"):
        merge([], tmp_path / "prefix", tmp_path / "sdk")


def test_build_files_make_no_packages(artifacts: Artifacts) -> None:
    artifacts.add("blas", {"include/blas/BUILD": "", "include/BUILD.bazel": "", "include/blas/blas.h": "1"})
    assert artifacts.merged() == {"include/blas/blas.h": "1"}


def test_device_code_beside_the_development_tree(tmp_path: Path) -> None:
    """Packages with device code add files to the libraries' tree. The development tree was made without them."""
    contents = {
        "_devel/lib/libone.so.1": "one, with links",
        "_libraries/lib/libone.so.1": "one",
        "_libraries/lib/one/kernels_gfx90a.co": "kernels",
        "_libraries/__init__.py": "",
    }
    for path, content in contents.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    merge([], tmp_path / "prefix", tmp_path / "_devel", [tmp_path / "_libraries"])
    files = {path.relative_to(tmp_path / "prefix").as_posix(): path for path in (tmp_path / "prefix").rglob("*.*")}
    assert {path: file.read_text(encoding="utf-8") for path, file in files.items()} == {
        "lib/libone.so.1": "one, with links",
        "lib/one/kernels_gfx90a.co": "kernels",
    }


#: Package -> its files.
PACKAGES = {
    "clang-22": ("usr/lib/llvm-22/bin/clang",),
    "clang-tools-22": ("usr/lib/llvm-22/bin/clang-offload-bundler",),
    "libamdhip64-dev:amd64": ("usr/include/hip/hip_runtime.h",),
    "libc6-dev:amd64": ("usr/include/stdio.h",),
    "libclang-common-22-dev:amd64": ("usr/lib/llvm-22/lib/clang/22/include/__clang_hip_runtime_wrapper.h",),
    "lld-22": ("usr/lib/llvm-22/bin/lld",),
    "rocm-device-libs-22": ("usr/lib/llvm-22/lib/clang/22/amdgcn/bitcode/ocml.bc",),
    "zlib1g:amd64": ("usr/lib/x86_64-linux-gnu/libz.so.1",),
}


def install(root: Path, packages: Mapping[str, tuple[str, ...]]) -> Path:
    """Install packages as dpkg does; return the directory that users name."""
    (root / LISTS).mkdir(parents=True)
    for package, files in packages.items():
        for path in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).touch(mode=0o755)
        (root / LISTS / f"{package}.list").write_text("".join(f"/{path}\n" for path in ("usr", *files)))
    return root / "usr"


def test_other_files_are_no_part_of_the_sdk(tmp_path: Path) -> None:
    merge([], tmp_path / "prefix", install(tmp_path / "root", PACKAGES))
    found = {str(path.relative_to(tmp_path / "prefix")) for path in (tmp_path / "prefix").rglob("*") if path.is_file()}
    others = {"include/stdio.h", "lib/x86_64-linux-gnu/libz.so.1"}
    assert found == {path.removeprefix("usr/") for files in PACKAGES.values() for path in files} - others
    compiler = find_compiler(tmp_path / "prefix")
    assert compiler
    assert compiler.program("clang") == "lib/llvm-22/bin/clang"


def test_a_directory_of_an_sdk_alone_counts_whole(tmp_path: Path) -> None:
    assert files_of_packages(install(tmp_path, {"zlib1g": PACKAGES["zlib1g:amd64"]})) is None
    assert files_of_packages(tmp_path / "opt/rocm") is None
