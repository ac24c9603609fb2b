"""The check of the development tree."""

from __future__ import annotations

from collections.abc import Mapping

from ..distributions import Distributions
from ..installation import InstalledPackage
from .check import FailureError, SkipError


def check_devel(known: Distributions, packages: Mapping[str, InstalledPackage]) -> str:
    """Check that the tree, made if need be, is whole and links to the installed files; say what else is in it."""
    if known.packages["devel"].distribution not in packages:
        raise SkipError("not installed")
    from ..devel import devel_root, find_layout

    devel_root()
    layout = find_layout(known)
    faults = layout.faults()
    if faults:
        raise FailureError(f"{len(faults)} faults: {'; '.join(faults[:5])}. Run `rocm-sdk init`, or reinstall it.")
    found = layout.tree.user_files()
    return f"{len(found)} files in it are no package's, and stay: {', '.join(found[:3])}" if found else ""
