"""The command rocm-verify: a zip application that brings all it needs, started in this process."""

import sys
from importlib import import_module
from pathlib import Path

__all__ = ["main"]


def main() -> int:
    """Run the command line; returns the exit code."""
    sys.path.insert(0, str(Path(__file__).with_name("rocm_verify.pyz")))
    code: int = import_module("wheels.verify.tool").main(sys.argv[1:])
    return code
