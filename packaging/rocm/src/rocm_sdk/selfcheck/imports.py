"""Checks of the Python packages inside a package's tree, which its build lists: each can be imported."""

from __future__ import annotations

import json
import os
import site
from pathlib import Path

from ..installation import InstalledPackage
from .check import FailureError, SkipError, run_python

PACKAGES_FILE = "python_packages.json"
_IMPORT = "import importlib; print(importlib.import_module(sys.argv[1]).__file__)"


def list_python_packages(package: InstalledPackage) -> list[tuple[str, str]]:
    """Return the names of a package's Python packages, and their directories, relative to its tree.

    What is optional counts if it is there.
    """
    table = package.site / package.names.import_name / PACKAGES_FILE
    rows = json.loads(table.read_text("utf-8")) if package.names.import_name and table.is_file() else []
    found = [(row["package"], f"{row['path']}/{row['package']}", row.get("optional", False)) for row in rows]
    return [(name, path) for name, path, optional in found if not optional or (package.tree / path).is_dir()]


def check_import(package: InstalledPackage, name: str, directory: str) -> str:
    """Check that a Python package can be imported, with the libraries that it loads then; return where from."""
    distribution, ours = package.names.distribution, package.tree / directory / "__init__.py"
    if not ours.is_file():
        raise SkipError(f"this build of {distribution} has no {directory}")
    try:
        found = Path(run_python(_IMPORT, name).splitlines()[-1])
    except FailureError as reason:
        if f"No module named '{name}'" in str(reason) and not reads_path_files(package.site):
            where = f"Python reads no .pth file in {package.site}"
            raise SkipError(f"{where}. Add {ours.parent.parent} to PYTHONPATH") from None
        remedy = f"Install what it misses, or reinstall {distribution}."
        raise FailureError(f"import {name}: {str(reason).rstrip('.')}. {remedy}") from None
    return directory if found.resolve() == ours.resolve() else f"{found}, which comes before that of {distribution}"


def reads_path_files(directory: Path) -> bool:
    """Return whether Python reads `.pth` files in a directory: not where only PYTHONPATH leads to it."""
    places = [*site.getsitepackages(), site.getusersitepackages()]
    return os.path.realpath(directory) in map(os.path.realpath, places)
