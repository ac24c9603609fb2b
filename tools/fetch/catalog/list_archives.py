"""Lists the archives of an artifacts directory for the module extension, which declares a repository for each.

    python3 -m tools.fetch.catalog.list_archives --artifacts DIR

prints a JSON object: file name -> a text that changes when the file does (size and times, so that nothing is read).
The time of the last change of its status (st_ctime) is one of them: whoever replaces a file can keep the other.
What is wrong with the directory is left for the scan to say.
"""

import argparse
import json
import sys
from pathlib import Path

from tools.fetch.catalog.names import archive_suffix


def archives(directory: Path) -> dict[str, str]:
    """Return the stamps of a directory's archives by name, sorted."""
    stamps = {}
    for path in sorted(directory.iterdir()):
        if archive_suffix(path.name) and not path.name.startswith(".") and path.is_file():
            status = path.stat()
            stamps[path.name] = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
    return stamps


def main(argv: list[str]) -> int:
    """Print the list."""
    parser = argparse.ArgumentParser(description="Lists archives with a stamp each.")
    parser.add_argument("--artifacts", type=Path, required=True, help="directory of artifact folders and archives")
    args = parser.parse_args(argv)
    try:
        print(json.dumps(archives(args.artifacts), ensure_ascii=False))
    except OSError as error:
        print(f"{error.filename}: {error.strerror}; check its permissions", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
