"""Writes the list of an SDK's packages and libraries that its Python code reads on users' machines.

runtime --label TARGET --version VERSION --package DISTRIBUTION=PLAN… --output LIST [--variable NAME]

`rules/runtime/libraries/table.py` reads it:

    {"packages": [{"distribution": "my-sdk-core", "libraries": {"liba.so.1": "lib/liba.so.1"}, "tree": "_my_sdk_core"}],
     "variable": "MY_SDK_ROOT", "version": "1.0"}
"""

from collections.abc import Sequence
from typing import Any

from lib.common.program import ToolError, argument_parser, read_document, report_errors, write_document
from lib.plan.model import Plan
from tools.actions.sonames.table import libraries_of


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


def write(given: Sequence[str], output: str, version: str, variable: str) -> None:
    """Write the list. Raises ToolError as `listed` does."""
    pairs = [one.partition("=")[::2] for one in given]
    packages = [(name, Plan.from_document(read_document(path))) for name, path in pairs]
    write_document(output, {"packages": listed(packages), "variable": variable, "version": version})


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--version", required=True, help="version of all packages")
    parser.add_argument("--variable", default="", help="environment variable that may name a directory with the SDK")
    parser.add_argument("--package", action="append", required=True, help="distribution=plan of a package")
    parser.add_argument("--output", required=True, help="the list to write")
    args = parser.parse_args(argv)
    return report_errors(args.label, lambda: write(args.package, args.output, args.version, args.variable))
