"""Gathers what the checks of `rocm-sdk doctor` read: the packages, the machine, and the environment variables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import detect
from ..detect import Answer, Gpu, ask_sources, prefer
from ..devel import DevelLayout, find_layout
from ..distributions import Distributions, load_distributions
from ..errors import DevelNotInstalledError
from ..installation import InstalledPackage, half_removed_packages, installed_packages, own_package
from ..targets import selection_in_effect

#: The kernel driver's list of GPUs, below the root of the file system.
KFD_NODES = detect.KFD_NODES.relative_to("/")


@dataclass(frozen=True)
class Facts:
    """A machine and the packages on it.

    `root` is where its file system begins. `packages` are the installed ones by distribution name, `remnants` the
    partly removed ones, `own` is `rocm` itself. `selection` is the choice of a target in effect, `answers` what
    the sources of GPUs said. `layout` says where the development tree is; None without the devel package.
    `module_path` is `sys.path`, without what this user may not read: the current directory, say.
    """

    known: Distributions
    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, InstalledPackage] = field(default_factory=dict)
    remnants: Mapping[str, InstalledPackage] = field(default_factory=dict)
    own: InstalledPackage | None = None
    selection: Mapping[str, Any] | None = None
    answers: Sequence[Answer] = ()
    layout: DevelLayout | None = None
    module_path: Sequence[str] = ()

    @property
    def gpus(self) -> list[Gpu]:
        """The GPUs in order of preference."""
        return prefer(self.answers)

    @property
    def all_packages(self) -> list[InstalledPackage]:
        """The installed packages, those that are half removed, and `rocm`."""
        return [*self.packages.values(), *self.remnants.values(), *([self.own] if self.own else [])]

    @property
    def sites(self) -> list[Path]:
        """The directories that packages are installed in."""
        return sorted({package.site for package in self.all_packages})

    @property
    def trees(self) -> list[Path]:
        """The directories with the packages' files."""
        return sorted({package.tree for package in (*self.packages.values(), *self.remnants.values())})

    @property
    def installer(self) -> str:
        """Program that installed `rocm`."""
        return self.own.installer if self.own else "pip"

    def is_ours(self, path: Path) -> bool:
        """Return whether a path is in one of the packages' trees."""
        return is_below(path, self.trees)


def gather(root: Path) -> Facts:
    """Return the facts of the machine whose file system is at `root`, and of the packages of this Python.

    Raises TargetError if an environment variable asks for a target or a GPU that is not there.
    """
    known = load_distributions()
    packages = installed_packages(known)
    own = own_package(known)
    sites = [package.site for package in [*([own] if own else []), *packages.values()]]
    layout = None
    with suppress(DevelNotInstalledError):
        layout = find_layout(known)
    return Facts(
        known,
        root,
        dict(os.environ),
        packages,
        half_removed_packages(known, packages, dict.fromkeys(sites)),
        own,
        selection_in_effect(known),
        ask_sources(root / KFD_NODES),
        layout,
        tuple(path for path in sys.path if os.access(path or os.curdir, os.R_OK | os.X_OK)),
    )


def is_below(path: Path, places: Iterable[Path]) -> bool:
    """Return whether a path is one of `places` or lies in one, by the files that links lead to."""
    resolved = path.resolve()
    return any(place.resolve() in (resolved, *resolved.parents) for place in places)
