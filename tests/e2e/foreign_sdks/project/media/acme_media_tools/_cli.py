"""The console scripts: each replaces itself by the program of its name."""

import os
import sys
from pathlib import Path
from typing import NoReturn

_PROGRAMS = Path(__file__).resolve().parents[1] / "_acme_media_tools/bin"


def _run(program: str) -> NoReturn:
    path = str(_PROGRAMS / program)
    os.execv(path, [path, *sys.argv[1:]])


def ffmpeg() -> NoReturn:
    """Run ffmpeg."""
    _run("ffmpeg")


def ffprobe() -> NoReturn:
    """Run ffprobe."""
    _run("ffprobe")
