"""What programs and rules say is plain English, in the words of the project that uses them.

The rules package any SDK: a message names the attribute that its reader wrote, never a target, a flag or a script of
this project, which the reader does not have.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.lint.prose_test import PHRASES
from tests.lint.workspace import WORKSPACE

#: Words of this project that no other project has.
#: (Whoever names limits of archives to a build has no attribute for them.)
OURS: Final = re.compile(r"--//(?!my:)|//packaging|bazelw\b|\.ci/run|ROCm\b|ROCM_|rocm_sdk|example SDK")
#: Labels of this project. Starlark has them outside of messages, too, where they mean the same in any project.
LABEL: Final = re.compile(r"(?<!@rules_rocm_python)//(?:develop|lib|tests|tools|wheels)\b")
#: Where programs are that other projects run.
FOLDERS: Final = ("rules", "tools/actions", "tools/fetch/catalog", "lib", "wheels")
#: Where ROCm is what it is about.
ROCM: Final = ("rules/private/rocm/", "wheels/distribution/", "wheels/require_sdk/rocm.py")
#: Programs whose messages still have one of the phrases; the list must shrink with them.
STUMBLING: Final = {"tools/actions/plan/forwarders.py", "tools/actions/platform_tag/tool.py"}
#: Files that say something of ROCm, or of this project alone -> why.
EXCEPTIONS: Final = {
    "rules/private/repositories/artifacts_directory.bzl": "variables of rocm.artifacts",
    "rules/private/new_wheels.bzl": "its tool and init_py load ROCm",
    "wheels/rebuild/tool.py": "a clone may have a wrapper of Bazel",
    "tools/actions/programs.bzl": "PyPI has a project of that name",
}


def sources() -> list[str]:
    """Return the files whose strings are checked."""
    found = (
        path.relative_to(WORKSPACE).as_posix()
        for folder in FOLDERS
        for suffix in ("*.py", "*.bzl")
        for path in (WORKSPACE / folder).rglob(suffix)
    )
    return sorted(path for path in found if not path.endswith("_test.py") and "/tests/" not in path)


def calls(node: ast.AST, name: str) -> bool:
    """Say whether this is a call of a function of that name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def strings(path: Path) -> Iterator[str]:
    """Yield the strings of a program; what an f-string fills in is `{}`.

    A docstring is left out unless it is help; so are labels of `visibility`.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    no_messages = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    no_messages |= {id(node) for call in ast.walk(tree) if calls(call, "visibility") for node in ast.walk(call)}
    if any(isinstance(node, ast.Name) and node.id == "__doc__" for node in ast.walk(tree)):
        yield ast.get_docstring(tree) or ""
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in no_messages | inner:
            yield node.value


def ours(path: str) -> list[str]:
    """Return the strings of a file that have words of this project."""
    words = [OURS] if path.endswith(".bzl") else [OURS, LABEL]
    return [text for text in strings(WORKSPACE / path) if any(word.search(text) for word in words)]


@pytest.mark.parametrize("path", sources())
def test_messages_are_in_the_words_of_any_project(path: str) -> None:
    assert ours(path) == [] or path in EXCEPTIONS or path.startswith(ROCM)


def raw_labels(path: Path) -> list[str]:
    """Return the labels that errors of a Starlark file do not write as on the command line, as `shown` does."""
    found = []
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if calls(call, "fail"):
            shown = {id(node) for inner in ast.walk(call) if calls(inner, "shown") for node in ast.walk(inner)}
            found += [
                ast.unparse(node)
                for node in ast.walk(call)
                if isinstance(node, ast.Attribute) and node.attr == "label" and id(node) not in shown
            ]
    return found


@pytest.mark.parametrize("path", [path for path in sources() if path.endswith(".bzl")])
def test_errors_write_labels_as_on_the_command_line(path: str) -> None:
    assert raw_labels(WORKSPACE / path) == []


def test_a_raw_label_is_found(tmp_path: Path) -> None:
    file = tmp_path / "rule.bzl"
    file.write_text('fail("{}: {} {}".format(ctx.label, shown(ctx.label), ctx.attr.package.label))\n')
    assert sorted(raw_labels(file)) == ["ctx.attr.package.label", "ctx.label"]


@pytest.mark.parametrize("path", sources())
def test_messages_are_plain(path: str) -> None:
    texts = [" ".join(text.split()) for text in strings(WORKSPACE / path)]
    found = [text for text in texts for phrase in PHRASES if re.search(phrase, text, re.IGNORECASE)]
    assert bool(found) == (path in STUMBLING), found


def test_each_exception_is_needed() -> None:
    assert [path for path in EXCEPTIONS if not ours(path)] == []


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ('"""Reads //packaging:dist."""\n', []),
        ('"""Reads //packaging:dist."""\nhelp(__doc__)\n', ["Reads //packaging:dist."]),
        ('fail(f"{x}: set --//rules/settings:compression")\n', ["{}: set --//rules/settings:compression"]),
        ('fail("bazel run //tools/fetch/lock")\n', ["bazel run //tools/fetch/lock"]),
        ('fail("bazel run @rules_rocm_python//tools/fetch/lock")\n', []),
        ('fail("`set ROCM_TARGETS`")\n', ["`set ROCM_TARGETS`"]),
    ],
)
def test_words_of_this_project_are_found(program: str, found: list[str], tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(program)
    assert ours(str(tmp_path / "tool.py")) == found
