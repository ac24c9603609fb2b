"""Tests of the catalog: what it makes of an artifacts directory, and what it says when that cannot be used."""

import ast
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from develop.testing.planted_archives import directory, file, manifest, plant
from tools.fetch.catalog import catalog, one_archive, scan
from tools.fetch.catalog.catalog import main
from tools.fetch.catalog.names import PART_MAX, escape

ROOT = Path(catalog.__file__).parents[3]
RUN_PROGRAM = (ROOT / "tools/fetch/run_program.bzl").read_text(encoding="utf-8")


def as_fetched(module: str, *arguments: str) -> list[str]:
    """Return the command with which a repository rule runs a program: its options are read in the rule's source."""
    options, isolated, bootstrap = (
        ast.literal_eval(value)
        for value in re.findall(r"^(?:_UTF8|_ISOLATED|_BOOTSTRAP) = (.+)$", RUN_PROGRAM, re.MULTILINE)
    )
    return [sys.executable, *options, *isolated, bootstrap, str(ROOT), module, *arguments]


class Artifacts:
    """An artifacts directory in the making, and the repository made of it."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "artifacts"
        self.output = directory / "repository"
        self.root.mkdir()
        self.output.mkdir()

    def add(self, name: str, files: Mapping[str, str | bytes], bases: str = "stage\n") -> Path:
        """Add an artifact; returns its base directory `stage`."""
        stage = self.root / name / "stage"
        stage.mkdir(parents=True)
        (self.root / name / "artifact_manifest.txt").write_text(bases, encoding="utf-8")
        for path, content in files.items():
            file = stage / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
            file.chmod(0o644)
        return stage

    def scan(self) -> int:
        """Run the catalog; return its exit code."""
        return main([f"--artifacts={self.root}", "--repository=_main~rocm~a", f"--output={self.output}"])

    def entries(self, manifest: str) -> dict[str, dict[str, str]]:
        """Read a manifest's entries, by path."""
        document = json.loads((self.output / "manifests" / f"{manifest}.json").read_text(encoding="utf-8"))
        return {entry["path"]: entry for entry in document["entries"]}

    def load(self, name: str) -> dict[str, Any]:
        """Evaluate a generated file: the subset of Starlark that it is in means the same in Python."""
        calls: list[dict[str, Any]] = []
        scope: dict[str, Any] = {"load": lambda *_: None, "package": lambda **_: None, "Label": str, "struct": dict}
        scope |= {"catalogued_artifact": lambda **attributes: calls.append(attributes), "calls": calls}
        exec((self.output / name).read_text(encoding="utf-8"), scope)
        return scope


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path)


def test_names_may_have_underscores(artifacts: Artifacts) -> None:
    artifacts.add("lib_run_math_lib_generic", {"lib/data": "data"})
    assert artifacts.scan() == 0
    (row,) = artifacts.load("artifacts.bzl")["ARTIFACTS"]
    assert (row["name"], row["component"], row["target"]) == ("lib_run_math", "lib", "generic")


def test_names_that_labels_cannot_hold(artifacts: Artifacts) -> None:
    names = [
        "with space",
        "a+b@c",
        "a:b",
        "a=b",
        "100%",
        "back\\slash",
        'quote"s',
        "ïß文",
        "BUILD",
        "BUILD.bazel",
        "BUILD/x",
        "d/WORKSPACE",
        "BUILD%",
        "%42UILD",
    ]
    names.remove("BUILD")
    artifacts.add("gfx_lib_gfx950:xnack+", {name: name for name in names})
    assert artifacts.scan() == 0
    entries = artifacts.entries("gfx_lib_gfx950%3Axnack+")
    assert {path for path, entry in entries.items() if entry["kind"] == "file"} == set(names)
    labels = {
        path: entry["file"].removeprefix("../_main~rocm~a/") for path, entry in entries.items() if "file" in entry
    }
    assert labels["a:b"] == "files/gfx_lib_gfx950%3Axnack+/stage/a%3Ab"
    assert labels["BUILD.bazel"].endswith("/BUILD.bazel%")
    assert labels["BUILD/x"].endswith("/BUILD%/x")
    assert len(set(labels.values())) == len(names)
    for path, label in labels.items():
        assert not set(label) & set("=:\\")
        assert (artifacts.output / label).read_text() == path
    (call,) = artifacts.load("BUILD.bazel")["calls"]
    assert call == {
        "name": "gfx_lib_gfx950%3Axnack+",
        "artifact_name": "gfx",
        "big_manifests": [],
        "big_srcs": [],
        "big_threads": [],
        "component": "lib",
        "manifest": "manifests/gfx_lib_gfx950%3Axnack+.json",
        "small_manifest": "manifests/gfx_lib_gfx950%3Axnack+/small.json",
        "small_threads": 1,
        "srcs": [labels[path] for path, entry in entries.items() if entry["kind"] == "file"],
        "target": "gfx950:xnack+",
    }


def test_escaped_names_can_be_told_apart() -> None:
    names = ["a:b", "a%3Ab", "a%253Ab", "BUILD", "BUILD%", "BUILD%25", "x/BUILD/y", "x/BUILD%/y", "a=b", "a\\b"]
    names += ["n" * length for length in range(PART_MAX - 5, 255)]
    names += [":" * count + "n" * (254 - count) for count in range(1, 255)]
    assert len({escape(name) for name in names}) == len(names)
    assert escape("lib/libx.so.1") == "lib/libx.so.1"
    assert escape("doc/...") == "doc/...%", "which is Bazel's wildcard for packages"
    assert escape("n" * PART_MAX) == "n" * PART_MAX


def test_directories_that_are_deeper_than_the_stack(artifacts: Artifacts) -> None:
    place = str(artifacts.add("a_lib_generic", {"d/x": "1"}))
    for _ in range(399):
        place += "/d"
        Path(place, "d").mkdir()
    Path(place, "d/x").write_text("1")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        assert artifacts.scan() == 0
    finally:
        sys.setrecursionlimit(limit)
    assert artifacts.entries("a_lib_generic")["d/" * 400 + "x"]["kind"] == "file"


@pytest.mark.parametrize("size", [1, 10], ids=["small", "big"])
@pytest.mark.parametrize(
    "name", ["n" * 255, ":" * 255, "é" * 127, "n" * 250 + ":.so", "BUILD.bazel" + "n" * 244], ids=lambda name: name[:3]
)
def test_names_as_long_as_a_file_system_takes(
    artifacts: Artifacts, name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where manifests and outputs, with something behind the name, and escapes make them longer."""
    monkeypatch.setattr(scan, "BIG_FILE_BYTES", 10)
    paths = {f"{name}/{name}": "0" * size, name[:-1]: "1" * size, name[:-1] + "x": "2" * size}
    artifacts.add("a_lib_generic", paths)
    assert artifacts.scan() == 0
    entries = artifacts.entries("a_lib_generic")
    assert set(entries) == {*paths, name}
    labels = {path: entries[path]["file"].removeprefix("../_main~rocm~a/") for path in paths}
    assert len(set(labels.values())) == len(paths)
    for path, label in labels.items():
        assert (artifacts.output / label).read_text() == paths[path]
        assert max(len(part.encode()) for part in label.split("/")) <= PART_MAX
    (call,) = artifacts.load("BUILD.bazel")["calls"]
    assert sorted(call["srcs"] + call["big_srcs"]) == sorted(labels.values())
    assert all((artifacts.output / unit).is_file() for unit in [*call["big_manifests"], call["small_manifest"]])


def test_a_link_for_each_directory_not_for_each_file(artifacts: Artifacts) -> None:
    """But none through which Bazel would see a package of its own, or a name that no label can hold."""
    plain = artifacts.add("a_lib_generic", {"lib/a.so": "", "include/a/a.h": "", "top": ""})
    stage = artifacts.add("b_dev_generic", {"include/x/x.h": "", "include/b.h": "", "odd/a:b": "", "lib/d/b.so": ""})
    (stage / "lib/BUILD").symlink_to("d")  # a link is no input, but Bazel would follow it
    assert artifacts.scan() == 0
    files = artifacts.output / "files"
    found = {
        path.relative_to(files).as_posix(): path.readlink() for path in sorted(files.rglob("*")) if path.is_symlink()
    }
    assert found == {
        "a_lib_generic/stage": plain,
        "b_dev_generic/stage/include": stage / "include",
        "b_dev_generic/stage/lib/d": stage / "lib/d",
        "b_dev_generic/stage/odd/a%3Ab": stage / "odd/a:b",
    }


def test_a_base_directory_in_another_one(artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are in both: at two paths, under one label, of which Bazel takes none twice."""
    monkeypatch.setattr(scan, "BIG_FILE_BYTES", 10)
    files = {"lib/a.so": "", "more/b": "", "more/big": "0123456789"}
    stage = artifacts.add("a_lib_generic", files, bases="stage\nstage/more\n")
    before = sorted(stage.rglob("*"))
    assert artifacts.scan() == 0
    assert (artifacts.output / "files/a_lib_generic/stage").readlink() == stage
    assert sorted(stage.rglob("*")) == before
    (call,) = artifacts.load("BUILD.bazel")["calls"]
    label = "files/a_lib_generic/stage/"
    assert call["srcs"] == [label + "lib/a.so", label + "more/b"]
    assert call["big_srcs"] == [label + "more/big"]
    entries = artifacts.entries("a_lib_generic")
    assert set(entries) == {"lib", "lib/a.so", "more", "more/b", "more/big", "b", "big"}
    for path in ("b", "big"):
        assert entries[path]["file"] == entries[f"more/{path}"]["file"]


def test_links_and_directories_are_recorded(artifacts: Artifacts) -> None:
    stage = artifacts.add("a_run_generic", {"bin/tool": "", "share/read-only": ""})
    (stage / "bin/tool").chmod(0o755)
    (stage / "share/read-only").chmod(0o444)
    (stage / "share").chmod(0o555)
    (stage / "empty").mkdir(mode=0o700)
    for path, text in (("bin/other", "tool"), ("llvm", "./lib/llvm/"), ("up", "bin/../share"), ("dangles", "no where")):
        (stage / path).symlink_to(text)
    assert artifacts.scan() == 0
    entries = artifacts.entries("a_run_generic")
    assert list(entries) == [
        "bin",
        "bin/other",
        "bin/tool",
        "dangles",
        "empty",
        "llvm",
        "share",
        "share/read-only",
        "up",
    ]
    assert entries["bin/tool"] == {
        "base": "stage",
        "path": "bin/tool",
        "kind": "file",
        "mode": "0755",
        "file": "../_main~rocm~a/files/a_run_generic/stage/bin/tool",
    }
    assert entries["share/read-only"]["mode"] == "0644"
    assert entries["empty"] == {"base": "stage", "path": "empty", "kind": "directory", "mode": "0755"}
    assert entries["share"]["mode"] == "0755"
    assert entries["llvm"] == {"base": "stage", "path": "llvm", "kind": "link", "target": "./lib/llvm/"}
    assert {path: entry["target"] for path, entry in entries.items() if entry["kind"] == "link"} == {
        "bin/other": "tool",
        "llvm": "./lib/llvm/",
        "up": "bin/../share",
        "dangles": "no where",
    }
    assert (artifacts.output / "trees.txt").read_text() == f"{stage.parent.parent}\n"
    assert (artifacts.output / "directories.txt").read_text() == ""


MODES = {
    "0644": [0o644, 0o600, 0o660, 0o664, 0o666, 0o444, 0o654, 0o1644],
    "0755": [0o755, 0o700, 0o775, 0o777, 0o555, 0o744, 0o500],
}


@pytest.mark.parametrize("suffix", ["", ".tar.gz"])
def test_modes_say_what_is_executable_and_nothing_else(artifacts: Artifacts, suffix: str, tmp_path: Path) -> None:
    """Not the umask of whoever unpacked the artifact; the same of a folder and of an archive."""
    modes = {f"{mode:04o}": mode for modes in MODES.values() for mode in modes}
    if suffix:
        members = [
            manifest(),
            directory("stage/d", 0o2770),
            *(file(f"stage/{name}", b"", modes[name]) for name in modes),
        ]
        archive = plant(tmp_path / f"a_lib_generic{suffix}", members)
        command = [f"--archive={archive}", "--artifact=a_lib_generic", "--repository=r", f"--output={artifacts.output}"]
        assert one_archive.main(command) == 0
    else:
        stage = artifacts.add("a_lib_generic", dict.fromkeys(modes, ""))
        for name, mode in modes.items():
            (stage / name).chmod(mode)
        (stage / "d").mkdir()
        (stage / "d").chmod(0o2770)
        assert artifacts.scan() == 0
    found = {path: entry["mode"] for path, entry in artifacts.entries("a_lib_generic").items()}
    assert found == {f"{mode:04o}": to for to, modes in MODES.items() for mode in modes} | {"d": "0755"}


@pytest.mark.parametrize("suffix", ["", ".tar.gz"])
def test_other_attributes_and_access_lists_are_left_out(artifacts: Artifacts, suffix: str, tmp_path: Path) -> None:
    """They say what a machine does with its files: where they came from, their labels, who may read them there."""
    stage = artifacts.add("a_lib_generic", {"tool": "x"})
    (stage / "tool").chmod(0o755)
    if suffix:
        info, content = file("stage/tool", b"x", 0o755)
        info.pax_headers = {"SCHILY.xattr.user.origin": "here", "SCHILY.acl.access": "user::rwx,user:1:rwx,mask::rwx"}
        archive = plant(tmp_path / f"a_lib_generic{suffix}", [manifest(), (info, content)])
        command = [f"--archive={archive}", "--artifact=a_lib_generic", "--repository=r", f"--output={artifacts.output}"]
        assert one_archive.main(command) == 0
    else:
        # An access control list as the kernel has it (linux/posix_acl_xattr.h): tag, permissions, identity.
        entries = [(1, 7, -1), (2, 7, 1), (4, 5, -1), (16, 7, -1), (32, 5, -1)]
        access = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
        for name, value in (("user.origin", b"here"), ("system.posix_acl_access", access)):
            with suppress(OSError):  # Not every file system has them.
                os.setxattr(stage / "tool", name, value)
        assert artifacts.scan() == 0
    assert artifacts.entries("a_lib_generic")["tool"]["mode"] == "0755"


def test_base_directories_that_are_not_there_are_empty(artifacts: Artifacts) -> None:
    """AMD's kpack splitter lists each base directory that gave device code; the archive lies in the first of them."""
    bases = "libs/a/stage\nlibs/b/stage\nother/stage\nstage\n"
    stage = artifacts.add("blas_lib_gfx1100", {".kpack/blas_lib_gfx1100.kpack": "x"}, bases)
    (stage.parent / "libs").mkdir()
    assert artifacts.scan() == 0
    assert list(artifacts.entries("blas_lib_gfx1100")) == [".kpack", ".kpack/blas_lib_gfx1100.kpack"]
    # Whoever watches learns of it where one comes to be.
    assert (artifacts.output / "trees.txt").read_text() == f"{stage.parent.parent}\n"


def test_several_base_directories(artifacts: Artifacts) -> None:
    artifacts.add("a_lib_generic", {"x": "1"}, bases="stage\n\n./other/stage/ \nstage\n")
    (artifacts.root / "a_lib_generic/other/stage").mkdir(parents=True)
    (artifacts.root / "a_lib_generic/other/stage/y").write_text("2")
    (artifacts.root / "a_lib_generic/elsewhere").mkdir()
    assert artifacts.scan() == 0
    assert {path: entry["base"] for path, entry in artifacts.entries("a_lib_generic").items()} == {
        "x": "stage",
        "y": "other/stage",
    }


def test_big_files_are_told_from_small_ones(artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BIG_FILE_BYTES", 10)
    artifacts.add("a_lib_generic", {"nine": "9" * 9, "ten": "0" * 10, "eleven": "1" * 11})
    assert artifacts.scan() == 0
    (call,) = artifacts.load("BUILD.bazel")["calls"]
    assert [label.rpartition("/")[2] for label in call["srcs"]] == ["nine"]
    for unit, label in zip(call["big_manifests"], call["big_srcs"], strict=True):
        name = label.rpartition("/")[2]
        (entry,) = artifacts.entries(unit.removeprefix("manifests/").removesuffix(".json")).values()
        assert sorted(entry) == ["base", "file", "kind", "path"], (
            "neither mode nor neighbours: they would repack the file"
        )
        assert entry["path"].rpartition("/")[2] == name
    assert [label.rpartition("/")[2] for label in call["big_srcs"]] == ["eleven", "ten"]


@pytest.mark.parametrize(
    ("mebibytes", "expected"), [(16, 1), (255, 1), (256, 2), (511, 2), (512, 4), (1023, 4), (1024, 8), (9999, 8)]
)
def test_bigger_files_are_given_more_threads(mebibytes: int, expected: int) -> None:
    assert scan.threads(mebibytes << 20) == expected


def test_every_unit_says_how_many_threads(artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BIG_FILE_BYTES", 10)
    monkeypatch.setattr(scan, "BYTES_PER_THREAD", 10)
    small = {f"small{n}": "1" * 5 for n in range(5)}
    artifacts.add("a_lib_generic", {"ten": "0" * 10, "forty": "4" * 40} | small)
    assert artifacts.scan() == 0
    (call,) = artifacts.load("BUILD.bazel")["calls"]
    assert [label.rpartition("/")[2] for label in call["big_srcs"]] == ["forty", "ten"]
    assert call["big_threads"] == [4, 1]
    assert call["small_threads"] == 2


BUILD_FILE = """load("@rules_rocm_python//rules:catalog.bzl", "catalogued_artifact")

package(default_visibility = ["//visibility:public"])

catalogued_artifact(
    name = "a_dev_generic",
    artifact_name = "a",
    big_manifests = [],
    big_srcs = [],
    big_threads = [],
    component = "dev",
    manifest = "manifests/a_dev_generic.json",
    small_manifest = "manifests/a_dev_generic/small.json",
    small_threads = 1,
    srcs = ["files/a_dev_generic/stage/include/a.h"],
    target = "generic",
)

catalogued_artifact(
    name = "ï_lib_gfx942",
    artifact_name = "ï",
    big_manifests = [],
    big_srcs = [],
    big_threads = [],
    component = "lib",
    manifest = "manifests/ï_lib_gfx942.json",
    small_manifest = "manifests/ï_lib_gfx942/small.json",
    small_threads = 1,
    srcs = [],
    target = "gfx942",
)
"""
ARTIFACTS_FILE = '''"""The artifacts found in --artifacts."""

SPLIT = False

DIST_TARGETS = []

ARTIFACTS = [
    struct(name = "a", component = "dev", target = "generic", label = str(Label("//:a_dev_generic"))),
    struct(name = "ï", component = "lib", target = "gfx942", label = str(Label("//:ï_lib_gfx942"))),
]
'''


def test_generated_files(artifacts: Artifacts) -> None:
    artifacts.add("ï_lib_gfx942", {})
    artifacts.add("a_dev_generic", {"include/a.h": ""})
    artifacts.add(".hidden", {})
    (artifacts.root / "notes.txt").write_text("no artifact")
    assert artifacts.scan() == 0
    assert (artifacts.output / "BUILD.bazel").read_text(encoding="utf-8") == BUILD_FILE
    assert (artifacts.output / "artifacts.bzl").read_text(encoding="utf-8") == ARTIFACTS_FILE
    listed = json.loads((artifacts.output / "artifacts.json").read_text(encoding="utf-8"))
    assert listed == {"artifacts": {"a_dev_generic": True, "ï_lib_gfx942": True}}


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ('{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}', True),
        ('{"flags": {"KPACK_SPLIT_ARTIFACTS": false}}', False),
        ('{"flags": {}}', False),
        ("{}", False),
    ],
)
def test_layout_and_targets(artifacts: Artifacts, text: str, split: bool) -> None:
    about = {"share/therock/therock_manifest.json": text}
    artifacts.add("base_lib_generic", about)
    artifacts.add("base_run_generic", {"share/therock/dist_info.json": '{"dist_amdgpu_targets": "gfx942;;gfx1100"}'})
    assert artifacts.scan() == 0
    loaded = artifacts.load("artifacts.bzl")
    assert (loaded["SPLIT"], loaded["DIST_TARGETS"]) == (split, ["gfx942", "gfx1100"])


def test_runs_alone_and_says_the_same_twice(artifacts: Artifacts, tmp_path: Path) -> None:
    artifacts.add("ï_lib_gfx950:xnack+", {"lib/ï": "x", "lib/a": "y"})
    trees = []
    for name in ("one", "two"):
        output = tmp_path / name
        arguments = [f"--artifacts={artifacts.root}", "--repository=r", f"--output={output}"]
        command = as_fetched("tools.fetch.catalog.catalog", *arguments)
        output.mkdir()
        # An environment without a locale: the names are UTF-8 all the same.
        subprocess.run(command, check=True, env={})
        trees.append({path.relative_to(output): path.read_bytes() for path in output.rglob("*") if path.is_file()})
    assert trees[0] == trees[1]
    assert len(trees[0]) == 8


def test_names_are_utf_8_in_any_locale(artifacts: Artifacts, tmp_path: Path) -> None:
    """Of files, of links and their texts, and of empty directories, with a locale whose encoding is another."""
    locale = tmp_path / "locales/fr_FR.ISO-8859-1"
    locale.parent.mkdir()
    if localedef := shutil.which("localedef"):
        subprocess.run([localedef, "--no-archive", "-i", "fr_FR", "-f", "ISO-8859-1", locale], check=False)
    environment = {"LOCPATH": str(locale.parent), "LC_ALL": locale.name}
    ask = [sys.executable, "-c", "import sys; print(sys.getfilesystemencoding())"]
    encoding = subprocess.run(ask, env=environment, capture_output=True, text=True, check=True).stdout
    if encoding.strip().lower() != "iso8859-1":
        pytest.skip("needs localedef with fr_FR and ISO-8859-1; Debian has them in `locales`")
    stage = artifacts.add("a_lib_generic", {"données": "x"})
    (stage / "vidé").mkdir()
    (stage / "lié").symlink_to("données")
    arguments = [f"--artifacts={artifacts.root}", "--repository=r", f"--output={artifacts.output}"]
    subprocess.run(as_fetched("tools.fetch.catalog.catalog", *arguments), env=environment, check=True)
    entries = artifacts.entries("a_lib_generic")
    assert (set(entries), entries["lié"]["target"]) == ({"données", "lié", "vidé"}, "données")

    (artifacts.root / "é_lib_generic.tar.gz").touch()
    command = as_fetched("tools.fetch.catalog.catalog", "--list-archives", f"--artifacts={artifacts.root}")
    listed = subprocess.run(command, env=environment, capture_output=True, check=True).stdout.decode()
    assert list(json.loads(listed)) == ["é_lib_generic.tar.gz"]


def test_archives_are_targets_of_other_repositories(artifacts: Artifacts) -> None:
    artifacts.add("blas_lib_generic", {"lib/x": ""})
    names = ["base_lib_generic.tar.zst", "base_run_generic.tar.gz", "rand_lib_gfx950:xnack+.tar.xz"]
    for name in names:
        (artifacts.root / name).touch()
    archived = [f"--archived={name}=r{at}" for at, name in enumerate(names)]
    assert main([f"--artifacts={artifacts.root}", "--repository=r", f"--output={artifacts.output}", *archived]) == 0
    text = (artifacts.output / "artifacts.bzl").read_text(encoding="utf-8")
    assert text.splitlines()[2:8] == [
        'load("@r0//:artifacts.bzl", _DIST_TARGETS_0 = "DIST_TARGETS", _SPLIT_0 = "SPLIT")',
        'load("@r1//:artifacts.bzl", _DIST_TARGETS_1 = "DIST_TARGETS", _SPLIT_1 = "SPLIT")',
        "",
        "SPLIT = False or _SPLIT_0 or _SPLIT_1",
        "",
        "DIST_TARGETS = [] or _DIST_TARGETS_0 or _DIST_TARGETS_1",
    ], "only what tells about the build is fetched to load it"
    listed = json.loads((artifacts.output / "artifacts.json").read_text(encoding="utf-8"))["artifacts"]
    archives = ("base_lib_generic", "base_run_generic", "rand_lib_gfx950:xnack+")
    assert listed == {"blas_lib_generic": True} | dict.fromkeys(archives, False), "whether each is in this repository"
    scope: dict[str, Any] = {"load": lambda *_, **__: None, "Label": str, "struct": dict, "_SPLIT_0": False}
    scope |= {"_SPLIT_1": True, "_DIST_TARGETS_0": ["gfx942"], "_DIST_TARGETS_1": []}
    exec(text, scope)
    assert (scope["SPLIT"], scope["DIST_TARGETS"]) == (True, ["gfx942"])
    assert [artifact["label"] for artifact in scope["ARTIFACTS"]] == [
        "@r0//:base_lib_generic",
        "@r1//:base_run_generic",
        "//:blas_lib_generic",
        "@r2//:rand_lib_gfx950%3Axnack+",
    ]


def test_artifacts_of_a_lock_file_are_targets_of_other_repositories(tmp_path: Path) -> None:
    archived = ("base_lib_generic=r.base", "blas_lib_gfx950:xnack+=r.blas")
    assert main([f"--output={tmp_path}", "--named-by=//:lock.json", *(f"--archived={one}" for one in archived)]) == 0
    text = (tmp_path / "artifacts.bzl").read_text()
    assert 'load("@r.base//:artifacts.bzl", _DIST_TARGETS_0 = "DIST_TARGETS", _SPLIT_0 = "SPLIT")' in text
    assert 'target = "gfx950:xnack+", label = str(Label("@r.blas//:blas_lib_gfx950%3Axnack+")))' in text
    assert set(json.loads((tmp_path / "artifacts.json").read_text())["artifacts"].values()) == {False}


def test_the_list_of_archives_has_sizes_and_times(artifacts: Artifacts, capsys: pytest.CaptureFixture[str]) -> None:
    artifacts.add("folder_lib_generic", {})
    changed = {}
    for name in ("b_lib_generic.tar.xz", "a_lib_generic.tar.zst", ".hidden_lib_generic.tar.gz", "notes.txt"):
        (artifacts.root / name).write_text(name)
        os.utime(artifacts.root / name, ns=(1, 123456789))
        changed[name] = (artifacts.root / name).stat().st_ctime_ns
    assert catalog.main(["--list-archives", f"--artifacts={artifacts.root}"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert list(listed.items()) == [
        ("a_lib_generic.tar.zst", f"21 123456789 {changed['a_lib_generic.tar.zst']}"),
        ("b_lib_generic.tar.xz", f"20 123456789 {changed['b_lib_generic.tar.xz']}"),
    ]


def test_an_archive_of_another_content_has_another_stamp(tmp_path: Path) -> None:
    """Also if its size is the same, and its time: reproducible builds set it, copies keep it."""
    archive = tmp_path / "a_lib_generic.tar.zst"
    stamps = []
    for content in (b"one", b"two"):
        archive.write_bytes(content)
        os.utime(archive, ns=(0, 0))
        stamps.append(catalog.archive_stamps(tmp_path)[archive.name])
        assert catalog.archive_stamps(tmp_path)[archive.name] == stamps[-1]
        time.sleep(0.05)  # The kernel's clock for files ticks 100 to 1000 times a second.
    assert stamps[0] != stamps[1]
