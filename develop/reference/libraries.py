"""Computes the `bzl_library` of each public folder: its name is the folder's, its `deps` are what the files load.

They stand in the BUILD files, for tools such as Stardoc; tests/lint compares them with what this says.
"""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from develop.reference.page import PAGES, public_files
from develop.reference.starlark import Workspace, file_of, function_of, keywords

#: Files of other repositories, and what to depend on for each. Old and new versions of each module have these.
EXTERNAL: Final = {
    "@bazel_server//:checked.bzl": "@bazel_server//:checked.bzl",
    "@bazel_skylib//lib:paths.bzl": "@bazel_skylib//lib:paths",
    "@bazel_skylib//rules:common_settings.bzl": "@bazel_skylib//rules:common_settings",
    "@bazel_tools//tools/build_defs/repo:utils.bzl": "@bazel_tools//tools/build_defs/repo:utils.bzl",
    "@rules_cc//cc/common:cc_common.bzl": "@rules_cc//cc/common",
    "@rules_cc//cc/common:cc_info.bzl": "@rules_cc//cc/common",
    "@rules_cc//cc:action_names.bzl": "@rules_cc//cc:action_names_bzl",
    "@rules_cc//cc:defs.bzl": "@rules_cc//cc:defs.bzl",
    "@rules_cc//cc:find_cc_toolchain.bzl": "@rules_cc//cc:find_cc_toolchain_bzl",
    "@rules_python//python:defs.bzl": "@rules_python//python:defs_bzl",
    "@rules_python//python:packaging.bzl": "@rules_python//python:packaging.bzl",
}


def expected(workspace: Workspace) -> dict[str, list[str]]:
    """Return label -> sorted `deps` of the libraries for the public files, and for all files that these load."""
    found: dict[str, set[str]] = {}
    seen: set[str] = set()
    pending = [path for folder in PAGES for path in public_files(workspace, folder)]
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        loads = workspace.loads(path)
        found.setdefault(library_of(path), set()).update(map(_dependency, loads))
        pending += [file_of(load, path) for load in loads if not load.startswith("@")]
    return {label: sorted(deps - {label}) for label, deps in found.items()}


def library_of(path: str) -> str:
    """Return the label of the library that a file is in, in its short form."""
    return f"//{Path(path).parent.as_posix()}"


def _dependency(load: str) -> str:
    return EXTERNAL[load] if load.startswith("@") else load.partition(":")[0]


def declared(workspace: Workspace, libraries: Iterable[str]) -> dict[str, list[str]]:
    """Return label -> `deps`, sorted, of each of these libraries that a BUILD file declares."""
    found: dict[str, list[str]] = {}
    for label in libraries:
        package = label.removeprefix("//")
        for node in ast.walk(workspace.tree(f"{package}/BUILD.bazel")):
            if isinstance(node, ast.Call) and function_of(node) == "bzl_library":
                arguments = keywords(node)
                if ast.literal_eval(arguments["name"]) == Path(package).name:
                    found[label] = sorted(ast.literal_eval(arguments["deps"]) if "deps" in arguments else [])
    return found
