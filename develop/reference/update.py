"""Writes the references: docs/reference/rules.md, hip/docs/reference.md, and tables in docs/reference/verify-rules.md.

    bazel run //develop/reference:update
    python3 -m develop.reference.update [WORKSPACE]

tests/lint compares the pages with what this writes.
"""

import os
import sys
from pathlib import Path

from develop.reference.page import PAGES, page
from develop.reference.starlark import StarlarkError, Workspace
from develop.reference.verify_rules import PAGE, updated
from wheels.verify import registry


def main(argv: list[str]) -> int:
    """Write the pages of the named workspace, or of the workspace that `bazel run` is called in."""
    root = Path(argv[0] if argv else os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    try:
        texts = {path: page(Workspace(root), folder) for folder, path in PAGES.items()}
        texts[PAGE] = updated((root / PAGE).read_text(encoding="utf-8"), registry.rules())
    except StarlarkError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    for path, text in texts.items():
        (root / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
