"""Finds the GPUs of this machine. The sdist of `acme` calls it during installation.

A real probe asks the driver. This one reads a file that the driver of Acme's GPUs would write: a name on each line.
"""

from __future__ import annotations

import os
from pathlib import Path


def gpus() -> list[str]:
    """Return the names of the GPUs, the preferred first; empty without the driver."""
    listing = Path(os.environ.get("ACME_DRIVER", "/proc/driver/acme"), "gpus")
    return listing.read_text().split() if listing.is_file() else []
