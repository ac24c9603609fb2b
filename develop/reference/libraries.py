"""Which `bzl_library` each file of the public API has: one of its name, whose `deps` follow from what the file loads.

They stand in the BUILD files, for tools such as Stardoc; tests/lint compares them with what this says.
"""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from develop.reference.page import public_files
from develop.reference.starlark import Workspace, file_of, function_of, keywords

#: Files of other repositories, and what to depend on for each. Old and new versions of each module have these.
EXTERNAL: Final = {
    "@bazel_server//:checked.bzl": "@bazel_server//:checked.bzl",
    "@bazel_skylib//lib:paths.bzl": "@bazel_skylib//lib:paths",
    "@bazel_skylib//rules:common_settings.bzl": "@bazel_skylib//rules:common_settings",
    "@bazel_tools//tools/build_defs/repo:utils.bzl": "@bazel_tools//tools/build_defs/repo:utils.bzl",
    "@rules_cc//cc/common:cc_common.bzl": "@rules_cc//cc/common",
    "@rules_cc//cc/common:cc_info.bzl": "@rules_cc//cc/common",
    "@rules_cc//cc:defs.bzl": "@rules_cc//cc:defs.bzl",
    "@rules_cc//cc:find_cc_toolchain.bzl": "@rules_cc//cc:find_cc_toolchain_bzl",
    "@rules_python//python:defs.bzl": "@rules_python//python:defs_bzl",
    "@rules_python//python:packaging.bzl": "@rules_python//python:packaging.bzl",
}


def expected(workspace: Workspace) -> dict[str, list[str]]:
    """Return label of each library -> its `deps`, sorted: those of the public files and of all that these load."""
    found: dict[str, list[str]] = {}
    pending = public_files(workspace)
    while pending:
        path = pending.pop()
        label = library_of(path)
        if label not in found:
            loads = workspace.loads(path)
            found[label] = sorted({_dependency(load) for load in loads})
            pending += [file_of(load, path) for load in loads if not load.startswith("@")]
    return found


def library_of(path: str) -> str:
    """Return the label of a file's library."""
    file = Path(path)
    return f"//{file.parent.as_posix()}:{file.stem}"


def _dependency(load: str) -> str:
    return EXTERNAL[load] if load.startswith("@") else load.removesuffix(".bzl")


def declared(workspace: Workspace, packages: Iterable[str]) -> dict[str, list[str]]:
    """Return label of each library that these packages' BUILD files declare -> its `deps`, absolute and sorted."""
    found: dict[str, list[str]] = {}
    for package in packages:
        for node in ast.walk(workspace.tree(f"{package}/BUILD.bazel")):
            if isinstance(node, ast.Call) and function_of(node) == "bzl_library":
                arguments = keywords(node)
                deps = ast.literal_eval(arguments["deps"]) if "deps" in arguments else []
                name = ast.literal_eval(arguments["name"])
                found[f"//{package}:{name}"] = sorted(
                    f"//{package}{one}" if one.startswith(":") else one for one in deps
                )
    return found
