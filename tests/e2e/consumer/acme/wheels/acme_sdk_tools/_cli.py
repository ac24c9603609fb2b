"""The console scripts: each replaces itself by the program of its name, which looks at argv[0]."""

import os
import sys
from typing import NoReturn

from . import ROOT


def _run(program: str) -> NoReturn:
    path = str(ROOT / "math" / "bin" / program)
    os.execv(path, [path, *sys.argv[1:]])


def acme_calc() -> NoReturn:
    """Run acme-calc."""
    _run("acme-calc")


def acme_sum() -> NoReturn:
    """Run acme-sum."""
    _run("acme-sum")
