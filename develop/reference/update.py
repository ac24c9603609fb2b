"""Writes docs/reference/rules.md.

    bazel run //develop/reference:update
    python3 -m develop.reference.update [WORKSPACE]

tests/lint compares the page with what this writes.
"""

import os
import sys
from pathlib import Path
from typing import Final

from develop.reference.page import page
from develop.reference.starlark import StarlarkError, Workspace

PAGE: Final = "docs/reference/rules.md"


def main(argv: list[str]) -> int:
    """Write the page of the named workspace, or of the workspace that `bazel run` is called in."""
    root = Path(argv[0] if argv else os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    try:
        text = page(Workspace(root))
    except StarlarkError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    (root / PAGE).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
