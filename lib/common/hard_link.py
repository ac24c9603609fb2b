"""Puts a file into a directory of outputs without writing its bytes again, where the file system can do that."""

import os
import shutil
from pathlib import Path


def link_or_copy(source: str, target: Path) -> None:
    """Hard-link a file, or copy it where that cannot be, as between file systems."""
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copyfile(source, target)
