"""docs/reference/rules.md is what the rules say of themselves, and each of their folders has a `bzl_library`."""

from develop.reference.libraries import declared, expected
from develop.reference.page import page
from develop.reference.starlark import Workspace
from tests.lint.workspace import WORKSPACE


def test_the_reference_is_that_of_the_rules() -> None:
    text = (WORKSPACE / "docs/reference/rules.md").read_text(encoding="utf-8")
    assert text == page(Workspace(WORKSPACE)), "bazel run //develop/reference:update"


def test_each_folder_has_a_library_with_those_that_its_files_load() -> None:
    workspace = Workspace(WORKSPACE)
    libraries = expected(workspace)
    assert declared(workspace, libraries) == libraries
