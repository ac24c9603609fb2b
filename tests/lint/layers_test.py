"""No folder uses one of a higher layer: docs/built/layers.md says which layers there are, and which walls."""

import re
from pathlib import Path

import pytest

from tests.lint.arrows import Arrow, arrows
from tests.lint.workspace import WORKSPACE, sources

PAGE = "docs/built/layers.md"
#: Where files are that say something of the whole workspace.
TOP = "."


def tables(text: str) -> tuple[list[list[str]], dict[tuple[str, ...], list[str]]]:
    """Read the page: the rows of folders; and for each wall what is behind it, and the folders that may use it."""
    layers, walls = text.partition("## Walls")[::2]

    def cells(part: str) -> list[list[list[str]]]:
        rows = re.findall(r"^\| (.*`.*) \| (.*) \|$", part, re.MULTILINE)
        return [[re.findall(r"`([\w./]+)`", cell) for cell in row] for row in rows]

    return [row[0] for row in cells(layers)], {tuple(row[0]): row[1] for row in cells(walls)}


ROWS, WALLS = tables((WORKSPACE / PAGE).read_text(encoding="utf-8"))
LEVEL = {folder: number for number, row in enumerate(ROWS) for folder in row}


def home(path: str) -> str:
    """Return the folder of the page that a path is in; the longest, or TOP."""
    parts = path.split("/")
    names = ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((name for name in names if name in LEVEL), TOP)


def is_below(path: str, folders: tuple[str, ...] | list[str]) -> bool:
    """Say whether a path is in one of these folders."""
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def wrong(found: list[Arrow]) -> list[str]:
    """Say which arrows lead up, or through a wall."""
    complaints = []
    for arrow in found:
        source, target = home(arrow.file), home(arrow.folder)
        if source == target or TOP in (source, target):
            continue
        support = arrow.for_tests and target == "develop/testing"
        if LEVEL[target] >= LEVEL[source] and not support:
            complaints.append(f"{arrow.file}: {arrow.kind} of {arrow.folder}: {source} may not use {target}")
    for behind, users in WALLS.items():
        for arrow in found:
            outside = not is_below(arrow.file, behind) and not is_below(arrow.file, users)
            tests = LEVEL.get(home(arrow.file), 0) >= LEVEL["develop/testing"]
            if is_below(arrow.folder, behind) and outside and not arrow.for_tests and not tests:
                complaints.append(f"{arrow.file}: {arrow.kind} of {arrow.folder}: through a wall of {PAGE}")
    return complaints


def files() -> list[str]:
    """Return the sources that use others."""
    return sources(".py", ".bzl", "BUILD.bazel")


def test_no_arrow_leads_up() -> None:
    assert wrong(arrows(WORKSPACE, files())) == []


def test_every_source_is_in_a_folder_of_the_page() -> None:
    assert [file for file in files() if "/" in file and home(file) == TOP] == []
    assert [folder for folder in LEVEL if not (WORKSPACE / folder).is_dir()] == []


@pytest.mark.parametrize(
    ("file", "text", "kind"),
    [
        ("lib/elf/a.py", "from lib.wheel.record import encoded\n", "import"),
        ("lib/wheel/a.py", "import wheels.verify.engine\n", "import"),
        ("lib/elf/a.py", "from develop.testing import tiny_elf\n", "import"),
        ("lib/elf/a_test.py", "from wheels.verify import engine\n", "import"),
        ("rules/private/a.bzl", 'X = rule(attrs = {"_a": attr.label(default = "//packaging:a")})\n', "label"),
        ("wheels/verify/BUILD.bazel", 'py_library(name = "a", deps = ["//wheels/channel"])\n', "label"),
        ("lib/pe/BUILD.bazel", 'py_library(name = "a", deps = ["//develop/testing"])\n', "label"),
        ("rules/private/common/a.bzl", 'load("//rules/private:a.bzl", "a")\n', "load"),
        ("packaging/a.bzl", 'load("//hip/private:a.bzl", "a")\n', "load"),
        ("rules/BUILD.bazel", 'load("//packaging:a.bzl", "a")\n', "load"),
        ("packaging/BUILD.bazel", 'py_library(name = "a", deps = ["//hip/tools/prefix"])\n', "label"),
    ],
)
def test_a_planted_arrow_is_found(tmp_path: Path, file: str, text: str, kind: str) -> None:
    for folder in LEVEL:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / "hip/tools/prefix").mkdir(parents=True)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    (complaint,) = wrong(arrows(tmp_path, [file]))
    assert complaint.startswith(f"{file}: {kind} of ")


def test_a_test_may_use_the_support_of_tests(tmp_path: Path) -> None:
    (tmp_path / "develop/testing").mkdir(parents=True)
    build = 'load("//develop/testing:pytest_test.bzl", "pytest_test")\npytest_test(deps = ["//develop/testing:elf"])\n'
    for name, text in (("a_test.py", "from develop.testing import elf_sample\n"), ("BUILD.bazel", build)):
        (tmp_path / name).write_text(text)
    assert wrong(arrows(tmp_path, ["a_test.py", "BUILD.bazel"])) == []
