"""Finds which folders use which: imports of Python files, labels in BUILD files and rules, loads in Starlark."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: A label of this project, as BUILD files and rules name targets.
LABEL: Final = re.compile(r"//([\w./-]*)(?::[\w./-]+)?")
#: Macros and rules whose targets are tests.
TESTS: Final = ("pytest_test",)
#: Attributes that use nothing: who may see a target, and prose.
NO_USE: Final = ("doc", "visibility")


@dataclass(frozen=True, order=True)
class Arrow:
    """A file that uses something of a folder."""

    file: str
    kind: str
    """`import`, `label` or `load`."""
    folder: str
    for_tests: bool
    """Whether a test needs it, and no product."""


def _calls(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _imports(root: Path, file: str) -> Iterator[Arrow]:
    for node in ast.walk(ast.parse((root / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [f"{node.module}.{one.name}" for one in node.names]
        elif isinstance(node, ast.Import):
            modules = [one.name for one in node.names]
        else:
            continue
        for module in modules:
            if module.startswith("packaging."):
                continue  # From PyPI: no Python package of that folder is imported elsewhere.
            path = module.replace(".", "/")
            while path and not (root / path).is_dir():
                path = path.rpartition("/")[0]
            if path:
                yield Arrow(file, "import", path, file.endswith("_test.py"))


def _labels(node: ast.AST) -> Iterator[str]:
    """Yield the packages of the labels in a statement, but of attributes that use nothing."""
    unused = {
        id(inner)
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg in NO_USE
        for inner in ast.walk(keyword.value)
    }
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and id(inner) not in unused:
            match = LABEL.fullmatch(inner.value)
            if match and match[1]:
                yield match[1]


def _is_test(call: ast.AST) -> bool:
    if isinstance(call, ast.ListComp):  # One test for each of several.
        return _is_test(call.elt)
    return _calls(call, *TESTS) or (
        isinstance(call, ast.Call) and any(keyword.arg == "testonly" for keyword in call.keywords)
    )


def _starlark(root: Path, file: str) -> Iterator[Arrow]:
    is_build = file.endswith("BUILD.bazel")
    for statement in ast.parse((root / file).read_text(encoding="utf-8")).body:
        call = statement.value if isinstance(statement, ast.Expr) else statement
        if _calls(call, "visibility", "package", "package_group"):
            continue
        kind = "load" if _calls(call, "load") else "label"
        # A BUILD file cannot say which of its targets a macro is for.
        for_tests = _is_test(call) or (is_build and kind == "load")
        for folder in _labels(call):
            yield Arrow(file, kind, folder, for_tests)


def arrows(root: Path, files: list[str]) -> list[Arrow]:
    """Return what these files use, sorted, each once; paths are relative to the workspace."""
    found: set[Arrow] = set()
    for file in files:
        found.update(_imports(root, file) if file.endswith(".py") else _starlark(root, file))
    return sorted(found)
