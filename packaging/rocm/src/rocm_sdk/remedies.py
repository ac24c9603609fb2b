"""The commands that put packages right, for the installer that installed them: messages end in one of these."""

from __future__ import annotations

from .installation import InstalledPackage


def install(requirement: str, installer: str) -> str:
    """Return the command that installs a requirement with `pip` or `uv`."""
    return f'{_program(installer)} install "{requirement}"'


def reinstall(package: InstalledPackage) -> str:
    """Return the command that installs a package again, even if its metadata says that it is there."""
    option = "--reinstall" if package.installer == "uv" else "--force-reinstall"
    name = f"{package.names.distribution}=={package.version}"
    return f'{_program(package.installer)} install {option} --no-deps "{name}"'


def uninstall(name: str, installer: str) -> str:
    """Return the command that removes a distribution without asking; uv never asks, and knows no `-y`."""
    return f"{_program(installer)} uninstall {name}" if installer == "uv" else f"pip uninstall -y {name}"


def _program(installer: str) -> str:
    return "uv pip" if installer == "uv" else "pip"
