"""Accepts what a build found: writes its coverage table over the committed table.

    bazel run //my:coverage_update [-- FILE]

FILE, relative to where the command is called, is needed the first time, when no table was named yet.
"""

import sys
from pathlib import Path
from typing import Any

from lib.common.committed_table import accept
from lib.coverage.table import Coverage, accepted, read_coverage, write_coverage


def write(path: Path, computed: str, settings: dict[str, Any]) -> None:
    """Write the table; of targets that were not compared, what is committed stays."""
    # What is written over as a whole need not be readable: it may have conflicts of a merge in it.
    kept = read_coverage(str(path)) if settings["compared"] and path.exists() else Coverage()
    write_coverage(str(path), accepted(kept, read_coverage(computed), settings["compared"]))


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    return accept(argv, __doc__, "release/coverage.json", write)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
