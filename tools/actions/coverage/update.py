"""Accepts what a build found: writes its coverage table over the one that was committed.

    bazel run //my:coverage_update [-- FILE]

FILE, relative to where the command is called, is needed the first time, when no table was named yet.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tools.actions.coverage.compare import accepted
from tools.actions.coverage.table import Coverage, read_coverage, write_coverage
from tools.lib.common.program import ToolError, argument_parser, read_document, report_errors


def destination(committed: str, file: str | None, environment: Mapping[str, str], expected: str) -> Path:
    """Return the file to write. Raises ToolError where none is named; `expected` says how to name it in the build."""
    if file:
        return Path(environment.get("BUILD_WORKING_DIRECTORY", ""), file).resolve()
    if committed.startswith("../"):
        raise ToolError(f"{committed}: the table belongs to another module; say which file to write, behind `--`")
    if committed:
        return Path(environment.get("BUILD_WORKSPACE_DIRECTORY", ""), committed)
    raise ToolError(
        f"no table is named yet; say which file to write, such as `-- release/coverage.json`, and then set {expected}"
    )


def update(settings: str, computed: str, file: str | None) -> None:
    """Write the table, and say where."""
    document = read_document(settings)
    expected = document["expected_option"] or f"`expected` of {document['label'].removesuffix('_update')}"
    path = destination(document["committed"], file, os.environ, expected)
    path.parent.mkdir(parents=True, exist_ok=True)
    # What is written over as a whole need not be readable: it may have conflicts of a merge in it.
    kept = read_coverage(str(path)) if document["compared"] and path.exists() else Coverage()
    write_coverage(str(path), accepted(kept, read_coverage(computed), document["compared"]))
    print(path)
    if not document["committed"]:
        print(f"Now set {expected} to this file")


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("settings", help="what the rule says")
    parser.add_argument("computed", help="the table of this build")
    parser.add_argument("file", nargs="?", metavar="FILE", help="file to write, instead of the one that was named")
    args = parser.parse_args(argv)
    label = read_document(args.settings)["label"]
    return report_errors(label, lambda: update(args.settings, args.computed, args.file))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
