"""The check of the development tree."""

from __future__ import annotations

from collections.abc import Mapping

from ..distributions import Distributions
from ..installation import InstalledPackage
from .check import FailureError, SkipError


def check_devel(known: Distributions, packages: Mapping[str, InstalledPackage]) -> str:
    """Check that the tree, made if need be, is whole, links to the installed files, and is all in RECORD."""
    if known.packages["devel"].distribution not in packages:
        raise SkipError("not installed")
    from ..devel.inspect import find_faults

    faults = find_faults()
    if faults:
        raise FailureError(f"{len(faults)} faults: {'; '.join(faults[:5])}. Run `rocm-sdk init`, or reinstall it.")
    return ""
