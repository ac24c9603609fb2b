"""Accepts what a build found: writes its table of libraries over the committed table.

    bazel run //my:sonames_update [-- FILE]

FILE, relative to where the command is called, is needed the first time, when no table was named yet.
"""

import sys
from pathlib import Path
from typing import Any

from lib.common.committed_table import accept
from tools.actions.sonames.table import read_sonames, write_sonames


def write(path: Path, computed: str, settings: dict[str, Any]) -> None:
    """Write the table, all of it."""
    del settings
    write_sonames(str(path), read_sonames(computed))


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    return accept(argv, __doc__, "release/sonames.json", write)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
