"""Lists a directory, to compare two: path, mode, SHA-256 or text of a link.

python3 -B -m develop.real_rocm.tree_listing DIRECTORY
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def listing(directory: Path) -> Iterator[str]:
    """Yield a line for each file, link and directory, sorted by path."""
    for folder, below, files in os.walk(directory):
        below.sort()
        for name in sorted(below + files):
            path = Path(folder, name)
            shown, mode = path.relative_to(directory), f"{path.lstat().st_mode & 0o7777:04o}"
            if path.is_symlink():
                yield f"{shown} -> {os.readlink(path)}"  # noqa: PTH115 - Path would not keep the text
            elif path.is_dir():
                yield f"{shown}/ {mode}"
            else:
                with path.open("rb") as file:
                    yield f"{shown} {mode} {hashlib.file_digest(file, 'sha256').hexdigest()}"


def main(argv: list[str]) -> int:
    """Print the listing of the one directory that is named."""
    if len(argv) != 1:
        sys.exit(__doc__)
    print("\n".join(sorted(listing(Path(argv[0])))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
