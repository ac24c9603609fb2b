"""Folders that a measurement leaves behind."""

import os
import shutil
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder with an output base in it, whose directories are read-only."""
    for directory, _, _ in os.walk(folder):
        Path(directory).chmod(0o700)
    shutil.rmtree(folder)
