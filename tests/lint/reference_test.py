"""The references are what the rules say of themselves, and each of their folders has a `bzl_library`."""

import pytest

from develop.reference.libraries import declared, expected
from develop.reference.page import PAGES, page
from develop.reference.starlark import Workspace
from develop.reference.verify_rules import PAGE, updated
from tests.lint.workspace import WORKSPACE
from wheels.verify import registry


@pytest.mark.parametrize(("folder", "path"), PAGES.items())
def test_the_reference_is_that_of_the_rules(folder: str, path: str) -> None:
    text = (WORKSPACE / path).read_text(encoding="utf-8")
    assert text == page(Workspace(WORKSPACE), folder), "bazel run //develop/reference:update"


def test_the_tables_of_rules_are_those_of_verify() -> None:
    text = (WORKSPACE / PAGE).read_text(encoding="utf-8")
    assert text == updated(text, registry.rules()), "bazel run //develop/reference:update"


def test_each_folder_has_a_library_with_those_that_its_files_load() -> None:
    workspace = Workspace(WORKSPACE)
    libraries = expected(workspace)
    assert declared(workspace, libraries) == libraries
