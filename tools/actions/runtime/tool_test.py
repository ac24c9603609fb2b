"""Tests of the list of packages and libraries that an SDK's Python code reads."""

import json
from pathlib import Path

import pytest

from develop.testing.artifacts import file, image, library, link, plan
from lib.plan.model import Definition, Plan
from tools.actions.runtime.tool import main

CORE = plan(
    Definition("core", "runtime", "_acme_core"),
    library("lib/libb.so.1", "libb.so.1"),
    library("lib/deep/liba.so.2.1", "liba.so.2"),
    link("lib/deep/liba.so.2", "liba.so.2.1"),
    library("lib/libother.so", "libelse.so.1"),
    library("lib/plugin.so"),
    file("share/data"),
)
WINDOWS = plan(Definition("windows_core", "runtime", "_acme_core", platform="windows"), image("bin/A.dll"))


def write(directory: Path, packages: dict[str, tuple[str, Plan]]) -> int:
    given = []
    for name, (distribution, one) in packages.items():
        (directory / name).write_text(json.dumps(one.to_document()), encoding="utf-8")
        given.append(f"--package={distribution}={directory / name}")
    return main(["--label=//x", "--version=1.0", *given, f"--output={directory}/list"])


def test_a_package_for_two_platforms_is_listed_once_with_the_paths_of_its_libraries(tmp_path: Path) -> None:
    assert write(tmp_path, {"linux": ("acme-core", CORE), "windows": ("acme-core", WINDOWS)}) == 0
    libraries = {"A.dll": "bin/A.dll", "liba.so.2": "lib/deep/liba.so.2", "libb.so.1": "lib/libb.so.1"}
    assert json.loads((tmp_path / "list").read_text()) == {
        "packages": [{"distribution": "acme-core", "libraries": libraries, "tree": "_acme_core"}],
        "version": "1.0",
    }


def test_a_library_of_two_packages_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write(tmp_path, {"one": ("acme-core", CORE), "two": ("acme-copy", CORE)}) == 1
    said = capsys.readouterr().err
    assert "//x: acme-core and acme-copy both have liba.so.2; expected one package for each library." in said
