"""Prints the size of each top folder, and how many of its files use each other one: `python3 -m tests.lint.doors`.

What only tests need does not count. A folder uses those further left, and `packaging/rocm`, which is below all;
`wheels/distribution` makes a wheel by `rules` (docs/built/layers.md).
"""

import re
import subprocess
from collections import defaultdict
from pathlib import Path, PurePosixPath

from tests.lint.arrows import arrows

WORKSPACE = Path(__file__).resolve().parents[2]
FOLDERS = ("lib", "tools", "wheels", "rules", "packaging", "hip")
CODE = (".py", ".bzl", ".bazel", ".c", ".h", ".sh", ".js", ".css", ".tpl")
TESTS = re.compile(r"_test\.|/tests/|/docs/|/examples/")


def product() -> list[str]:
    """Return the files of the product; of links, what they lead to alone."""
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=WORKSPACE, capture_output=True, text=True, check=True)
    paths = (path for path in listed.stdout.splitlines() if path.endswith(CODE) and not TESTS.search(path))
    return [path for path in paths if not (WORKSPACE / path).is_symlink()]


def rows() -> list[tuple[str, ...]]:
    """Return the table: folder, lines, files, and a number of files for each folder that is used."""
    files = product()
    used: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in arrows(WORKSPACE, [path for path in files if path.endswith((".py", ".bzl", ".bazel"))]):
        source, target = one.file.split("/")[0], PurePosixPath(one.folder).parts[0]
        if not one.for_tests and target in FOLDERS and target != source:
            used[source][target].add(one.file)
    found: list[tuple[str, ...]] = [("", "lines", "files", *FOLDERS)]
    for folder in FOLDERS:
        own = [path for path in files if path.startswith(f"{folder}/")]
        lines = sum((WORKSPACE / path).read_text(encoding="utf-8").count("\n") for path in own)
        found.append((folder, str(lines), str(len(own)), *(str(len(used[folder][one]) or "") for one in FOLDERS)))
    return found


if __name__ == "__main__":
    for row in rows():
        print(f"{row[0]:10}", *(f"{cell:>9}" for cell in row[1:]))
