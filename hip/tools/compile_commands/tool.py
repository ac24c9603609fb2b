"""Writes how HIP sources are compiled to compile_commands.json at the top of the workspace, for clangd and other tools.

    bazel run //my:compile_commands

Run it again after a change of build files or options. Entries of other programs stay; entries of an earlier run are
replaced. Sources are listed as they are compiled for the host.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hip.tools.compile_commands.database import Places, read_index, update
from lib.common.command import exit_codes, run_command
from lib.common.program import ToolError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="compile_commands",
        description=__doc__,
        epilog=exit_codes("compile_commands.json is written"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--index", type=Path, required=True, metavar="JSON", help="the sources; the target gives it")
    index: Path = parser.parse_args(argv).index

    def work() -> None:
        workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
        if not workspace:
            raise ToolError("the workspace is not known; expected it of Bazel. Run this program with `bazel run`")
        file = Path(workspace, "compile_commands.json")
        entries = list(read_index(Places.of(Path(workspace), index), index))
        others = update(file, entries)
        print(f"{file}: {len(entries)} HIP sources" + (f", and {others} entries of other programs" if others else ""))

    return run_command("compile_commands", work)


if __name__ == "__main__":
    sys.exit(main())
