"""The commands that put packages right, for the installer that installed them: messages end in one of these."""

from __future__ import annotations

from pathlib import Path

from .distributions import Distributions, PackageNames
from .installation import InstalledPackage, find_in_site


def install(requirement: str, installer: str) -> str:
    """Return the command that installs a requirement with `pip` or `uv`."""
    return f'{_program(installer)} install "{requirement}"'


def reinstall(package: InstalledPackage) -> str:
    """Return the command that installs a package again, even if its metadata says that it is there."""
    option = "--reinstall" if package.installer == "uv" else "--force-reinstall"
    name = f"{package.names.distribution}=={package.version}"
    return f'{_program(package.installer)} install {option} --no-deps "{name}"'


def half_removed_remedy(names: PackageNames, known: Distributions) -> str:
    """Return what to say of a package without its files whose metadata is still beside this code; "" if it is not.

    Installers take it for installed, and `pip install` would do nothing.
    """
    package = find_in_site(names, Path(__file__).parent.parent, known)
    return (
        f"It is half removed: {package.dist_info} is still there. Reinstall it: {reinstall(package)}" if package else ""
    )


def uninstall(name: str, installer: str) -> str:
    """Return the command that removes a distribution without asking; uv never asks, and knows no `-y`."""
    return f"{_program(installer)} uninstall {name}" if installer == "uv" else f"pip uninstall -y {name}"


def _program(installer: str) -> str:
    return "uv pip" if installer == "uv" else "pip"
