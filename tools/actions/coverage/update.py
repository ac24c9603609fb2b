"""Accepts what a build found: writes its coverage table over the committed table.

    bazel run //my:coverage_update [-- FILE]

FILE, relative to where the command is called, is needed the first time, when no table was named yet.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from lib.common.command import CommandParser
from lib.common.program import ToolError, read_document, report_errors
from lib.coverage.table import Coverage, accepted, read_coverage, write_coverage


def destination(committed: str, file: str | None, environment: Mapping[str, str], expected: str) -> Path:
    """Return the file to write. Raises ToolError where none is named; `expected` says how to name it in the build."""
    if file:
        return Path(environment.get("BUILD_WORKING_DIRECTORY", ""), file).resolve()
    if committed.startswith("../"):
        raise ToolError(f"{committed}: the table belongs to another module; say which file to write, behind `--`")
    if committed:
        return Path(environment.get("BUILD_WORKSPACE_DIRECTORY", ""), committed)
    example = "release/coverage.json"
    raise ToolError(f"no table is named yet; say which file to write, such as `-- {example}`, and then set {expected}")


def main(argv: list[str]) -> int:
    """Run the command line: write the table, and say where. Returns the exit status."""
    parser = CommandParser(description=__doc__)
    parser.add_argument("settings", help="what the rule says")
    parser.add_argument("computed", help="the table of this build")
    parser.add_argument("file", nargs="?", metavar="FILE", help="file to write, instead of the committed table")
    args = parser.parse_args(argv)
    settings = read_document(args.settings)

    def work() -> None:
        expected = settings["expected_option"] or f"`expected` of {settings['label'].removesuffix('_update')}"
        path = destination(settings["committed"], args.file, os.environ, expected)
        # What is written over as a whole need not be readable: it may have conflicts of a merge in it.
        kept = read_coverage(str(path)) if settings["compared"] and path.exists() else Coverage()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_coverage(str(path), accepted(kept, read_coverage(args.computed), settings["compared"]))
        print(path)
        if not settings["committed"]:
            print(f"Now set {expected} to this file")

    return report_errors(settings["label"], work)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
