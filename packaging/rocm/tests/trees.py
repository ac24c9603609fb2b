"""Reads, for tests, a directory laid out like site-packages that has a development tree."""

from __future__ import annotations

import os
from pathlib import Path

from rocm_sdk.installation import read_record

TREE = "_rocm_sdk_devel"


def tree_of(site: Path) -> dict[str, str]:
    """Return all of the development tree: what each path is, without the two files about it."""
    found = {}
    for directory, subdirectories, files in os.walk(site / TREE):
        for name in sorted(subdirectories + files):
            path = Path(directory) / name
            key = path.relative_to(site).as_posix()
            if path.is_symlink():
                found[key] = f"-> {path.readlink()}"
            elif path.is_dir():
                found[key] = "directory"
            elif not name.startswith(".rocm-sdk-"):
                found[key] = f"{path.stat().st_mode & 0o777:o} {path.read_bytes()[:20]!r}"
    return found


def recorded(site: Path) -> set[str]:
    """Return the paths of the tree that the devel package's RECORD lists."""
    record = site / "rocm_sdk_devel-7.10.0.dev0.dist-info/RECORD"
    paths = [row.path for row in read_record(record)]
    assert len(paths) == len(set(paths))
    return {path for path in paths if path.startswith(TREE)}


def own_files(site: Path) -> set[str]:
    """Return everything in the tree that RECORD has to list: files and links."""
    walk = [(Path(directory), names, files) for directory, names, files in os.walk(site / TREE)]
    paths = {directory / name for directory, names, files in walk for name in names + files}
    return {path.relative_to(site).as_posix() for path in paths if path.is_symlink() or not path.is_dir()}
