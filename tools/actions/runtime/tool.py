"""Writes the list of an SDK's packages and libraries that its Python code reads on users' machines.

`rules/runtime/libraries/packages.py` reads it:

    {"packages": [{"distribution": "my-sdk-core", "libraries": {"liba.so.1": "lib/liba.so.1"}, "tree": "_my_sdk_core"}],
     "version": "1.0"}
"""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lib.common.arguments import run_program
from lib.common.program import ToolError, read_document, write_document
from lib.plan.model import COPIES, LIBRARY, PE_LIBRARY, Entry, Plan


def _is_found(entry: Entry) -> bool:
    """Whether the loader finds a library at the path of an entry."""
    return entry.type == PE_LIBRARY or (entry.type == LIBRARY and entry.soname == posixpath.basename(entry.path))


def libraries_of(plan: Plan) -> dict[str, str]:
    """Return the libraries of a package, sorted: SONAME (or name of the DLL) -> path in the package's tree.

    A library counts in the package that has its bytes.
    """
    paths = (one.path for one in plan.entries if one.treatment in COPIES and _is_found(one))
    return dict(sorted((posixpath.basename(path), path) for path in paths))


def listed(packages: Sequence[tuple[str, Plan]]) -> list[dict[str, Any]]:
    """Return the packages, each once, with its libraries on all platforms.

    Raises ToolError if two packages have the same library.
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    for name, plan in packages:
        libraries = libraries_of(plan)
        for (other, tree), others in found.items():
            both = sorted(libraries.keys() & others.keys())
            if both and (other, tree) != (name, plan.tree):
                raise ToolError(
                    f"{other} and {name} both have {both[0]}; expected one package for each library. Exclude it from "
                    "one of them, or name only one of the two in `packages`"
                )
        found.setdefault((name, plan.tree), {}).update(libraries)
    return [{"distribution": name, "libraries": libraries, "tree": tree} for (name, tree), libraries in found.items()]


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    version: str  #: Of all packages.
    package: list[str]  #: DISTRIBUTION=PLAN: the packages.
    output: str  #: The list to write.


def write(args: Arguments) -> None:
    """Write the list. Raises ToolError as `listed` does."""
    pairs = [one.partition("=")[::2] for one in args.package]
    packages = [(name, Plan.from_document(read_document(path))) for name, path in pairs]
    write_document(args.output, {"packages": listed(packages), "version": args.version})


def main(argv: list[str]) -> int:
    """Write the list."""
    return run_program(Arguments, argv, write)
