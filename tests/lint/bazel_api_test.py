"""No Starlark, BUILD or rc file uses what a newer Bazel lacks: bazel_api.toml has what that is, and who says so."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lint.workspace import WORKSPACE, sources

TABLE = Path(__file__).with_name("bazel_api.toml")
#: How a planted use of each kind is written.
PLANTS = {
    "global": ("a.bzl", "def f():\n    native.{0}(name = str({0}))\n"),
    "attribute": ("a.bzl", "X = Label('//:a').{0}\n"),
    "keyword": ("a.bzl", "X = any.{0}({1} = None)\n"),
    "value": ("a.bzl", "X = attr.{0}({1} = '{2}')\n"),
    "label": ("BUILD.bazel", "alias(name = 'a', actual = '{0}')\n"),
    "flag": (".bazelrc", "common:some {0}=true  # why\n"),
    "file": ("{0}", "\n"),
}


@dataclass(frozen=True)
class Removed:
    """One thing that a Bazel lacks."""

    kind: str
    name: str
    since: int
    instead: str


ROWS = [
    Removed(row["kind"], name, row["since"], row["instead"])
    for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["removed"]
    for name in row["names"]
]
KNOWN = {(row.kind, row.name): row for row in ROWS}
LABELS = tuple(row.name for row in ROWS if row.kind == "label")


def bound(tree: ast.Module) -> set[str]:
    """Return the names that a file defines or loads."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names |= {node.name, *(argument.arg for argument in node.args.args + node.args.kwonlyargs)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "load":
            names |= {
                one.value for one in node.args[1:] if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
            names |= {keyword.arg for keyword in node.keywords if keyword.arg}
    return names


def uses(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield what a Starlark file uses: line, kind and name. Starlark parses as Python."""
    tree = ast.parse(text)
    own = bound(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in own:
            yield node.lineno, "global", node.id
        elif isinstance(node, ast.Attribute):
            is_native = isinstance(node.value, ast.Name) and node.value.id == "native"
            yield node.lineno, "global" if is_native and ("global", node.attr) in KNOWN else "attribute", node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno, "label", label) for label in LABELS if node.value.startswith(label))
        elif isinstance(node, ast.Call):
            function = ast.unparse(node.func).rpartition(".")[2]
            for keyword in node.keywords:
                yield node.lineno, "keyword", f"{function}.{keyword.arg}"
                if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
                    yield node.lineno, "value", f"{function}.{keyword.arg}={keyword.value.value}"


def flags(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the options of an rc file."""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()[1:]
        yield from ((number, "flag", word.partition("=")[0]) for word in words if word.startswith("--"))


def wrong(root: Path, files: list[str]) -> list[str]:
    """Say what files use that a newer Bazel lacks."""
    complaints = []
    for file in files:
        text = (root / file).read_text(encoding="utf-8")
        found = list((flags if file.endswith("bazelrc") else uses)(text))
        for line, kind, name in [*found, (1, "file", Path(file).name)]:
            row = KNOWN.get((kind, name))
            if row:
                complaints.append(f"{file}:{line}: {name}: Bazel {row.since} lacks it; {row.instead}")
    return complaints


def test_no_file_uses_what_a_newer_bazel_lacks() -> None:
    files = sources(".bzl", ".bazel", "bazelrc", "WORKSPACE", "WORKSPACE.bzlmod")
    assert len(files) > 200
    assert ".bazelrc" in files
    assert wrong(WORKSPACE, files) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind}-{row.name}")
def test_a_planted_use_is_found(tmp_path: Path, row: Removed) -> None:
    name, text = PLANTS[row.kind]
    words = row.name.replace("=", ".").split(".") if row.kind in ("keyword", "value") else [row.name]
    file = name.format(*words)
    (tmp_path / file).write_text(text.format(*words))
    complaints = wrong(tmp_path, [file])
    assert complaints, row
    assert all(f"Bazel {row.since} lacks it" in complaint for complaint in complaints)


def test_what_is_loaded_or_defined_is_not_meant(tmp_path: Path) -> None:
    text = 'load("@rules_cc//cc:defs.bzl", "cc_library")\ncc_library(name = "a")\nPyInfo = provider()\nPyInfo()\n'
    (tmp_path / "a.bzl").write_text(text)
    assert wrong(tmp_path, ["a.bzl"]) == []
