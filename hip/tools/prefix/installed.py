"""Which files below `/usr` are ROCm's, where Debian or Ubuntu has put its packages among all others."""

from pathlib import Path
from typing import Final

from tools.fetch.debian.table import SYSDEPS, rule_of

#: Where dpkg lists the files of each package: `hipcc.list`, `libamdhip64-dev:amd64.list`.
LISTS: Final = "var/lib/dpkg/info"


def files_of_packages(tree: Path) -> frozenset[str] | None:
    """Return the absolute paths that ROCm's packages have in a root directory such as `/usr`.

    Return None if no such package is installed there: then a directory has nothing but an SDK.
    """
    root = tree.parent
    lists = [file for file in sorted((root / LISTS).glob("*.list")) if _is_of_rocm(file)] if tree.name == "usr" else []
    lines = (line for file in lists for line in file.read_text(encoding="utf-8").splitlines())
    return frozenset(f"{root / line.lstrip('/')}" for line in lines) if lists else None


def _is_of_rocm(file: Path) -> bool:
    """Return whether a package is of ROCm or its LLVM. System libraries are in their places anyway."""
    rule = rule_of(file.name.removesuffix(".list").partition(":")[0])
    return rule is not None and rule.base != SYSDEPS
