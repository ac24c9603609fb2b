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
OURS: Final = re.compile(r"--//|//packaging|bazelw\b|ROCM_ARTIFACTS_DIR|example SDK")
#: Where programs are that other projects run.
FOLDERS: Final = ("rules", "tools/actions", "tools/commands", "tools/fetch/catalog", "tools/lib", "verify")
#: Files that say something of ROCm, or of this project alone -> why.
EXCEPTIONS: Final = {
    "rules/private/repositories/artifacts_directory.bzl": "the variable of rocm.artifacts",
    "rules/private/repositories/rocm.bzl": "the variable of rocm.artifacts",
    "rules/private/rocm_init_py.bzl": "the label of its program, which is made of what ships with ROCm",
    "tools/actions/coverage/update.py": "names the setting of ROCm's own packages beside the attribute",
    "tools/lib/gpus/derive.py": "writes files of this project",
}


def sources() -> list[str]:
    """Return the files whose strings are checked."""
    found = (
        path.relative_to(WORKSPACE).as_posix()
        for folder in FOLDERS
        for suffix in ("*.py", "*.bzl")
        for path in (WORKSPACE / folder).rglob(suffix)
    )
    return sorted(path for path in found if not re.search(r"_test\.py$|/(?:sample|testing|fuzz)", path))


def strings(path: Path) -> Iterator[str]:
    """Yield the strings of a program but docstrings; what an f-string fills in is `{}`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation | inner:
            yield node.value


@pytest.mark.parametrize("path", sources())
def test_messages_are_in_the_words_of_any_project(path: str) -> None:
    found = [text for text in strings(WORKSPACE / path) if OURS.search(text)]
    assert found == [] or path in EXCEPTIONS


@pytest.mark.parametrize("path", sources())
def test_messages_are_plain(path: str) -> None:
    texts = [" ".join(text.split()) for text in strings(WORKSPACE / path)]
    found = [text for text in texts for phrase in PHRASES if re.search(phrase, text, re.IGNORECASE)]
    assert found == []


def test_each_exception_is_needed() -> None:
    assert [path for path in EXCEPTIONS if not any(OURS.search(text) for text in strings(WORKSPACE / path))] == []
