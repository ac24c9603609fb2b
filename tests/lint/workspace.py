"""The sources that are linted and formatted: the workspace's own files, behind the links of the runfiles."""

import os
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parents[2]
BUILDIFIER = Path(os.environ["BUILDIFIER"]).absolute()


def sources(*suffixes: str) -> list[str]:
    """List the files of the workspace with these endings, sorted; none of Bazel's output or git's."""
    found: list[str] = []
    for directory, names, files in os.walk(WORKSPACE):
        names[:] = [name for name in names if not name.startswith((".", "bazel-")) and name != "__pycache__"]
        found += [str(Path(directory, file).relative_to(WORKSPACE)) for file in files if file.endswith(suffixes)]
    return sorted(found)
