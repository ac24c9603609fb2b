"""The command that accepts what a build found: it writes the build's table over the committed table.

    bazel run //my:table_update [-- FILE]

FILE, relative to where the command is called, is needed the first time, when no table was named yet.
"""

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lib.common.program import ToolError, read_document, report_errors

#: Writes the table to a file, given the path of the computed one and what the rule says.
Write = Callable[[Path, str, dict[str, Any]], None]


def destination(committed: str, file: str | None, environment: Mapping[str, str], expected: str, example: str) -> Path:
    """Return the file to write. Raises ToolError where none is named.

    `expected` says how to name it in the build, and `example` is what it may be called.
    """
    if file:
        return Path(environment.get("BUILD_WORKING_DIRECTORY", ""), file).resolve()
    if committed.startswith("../"):
        raise ToolError(f"{committed}: the table belongs to another module; say which file to write, behind `--`")
    if committed:
        return Path(environment.get("BUILD_WORKSPACE_DIRECTORY", ""), committed)
    raise ToolError(f"no table is named yet; say which file to write, such as `-- {example}`, and then set {expected}")


def accept(argv: list[str], description: str | None, example: str, write: Write) -> int:
    """Run the command line: write the table, and say where. Returns the exit status."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("settings", help="what the rule says")
    parser.add_argument("computed", help="the table of this build")
    parser.add_argument("file", nargs="?", metavar="FILE", help="file to write, instead of the committed table")
    args = parser.parse_args(argv)
    settings = read_document(args.settings)

    def work() -> None:
        expected = settings["expected_option"] or f"`expected` of {settings['label'].removesuffix('_update')}"
        path = destination(settings["committed"], args.file, os.environ, expected, example)
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, args.computed, settings)
        print(path)
        if not settings["committed"]:
            print(f"Now set {expected} to this file")

    return report_errors(settings["label"], work)
