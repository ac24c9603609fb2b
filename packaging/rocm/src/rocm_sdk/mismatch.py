"""Telling whether the GPU target that was chosen when `rocm` was installed is the right one here.

It need not be: installers keep the wheel that they build from the sdist, with the choice in it, and use it again in
another environment, perhaps for another machine. `find_mismatch` is pure; `rocm-sdk init`, `test` and `doctor` call
`mismatch_here`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .detect import Gpu, detect_gpus
from .distributions import Distributions, load_distributions, load_selection
from .installation import InstalledPackage, installed_packages, own_package
from .targets import match_target, select_target


@dataclass(frozen=True)
class Mismatch:
    """Error in the recorded choice, and the command that chooses again."""

    text: str
    command: str

    def __str__(self) -> str:
        """Return both in sentences."""
        return f"{self.text} Choose again: {self.command}"


def mismatch_here() -> Mismatch | None:
    """Return what is wrong with the choice on this machine, None if nothing is.

    Raises TargetError if the environment variable asks for a target that is not there.
    """
    known, selection = load_distributions(), load_selection()
    packages = installed_packages(known)
    fault = find_mismatch(known, selection, os.environ, detect_gpus(), packages)
    return None if fault is None else Mismatch(fault, choose_again(known, packages, installer_name(known)))


def find_mismatch(
    known: Distributions,
    selection: Mapping[str, Any] | None,
    environ: Mapping[str, str],
    gpus: Sequence[Gpu],
    installed: Collection[str],
) -> str | None:
    """Return in a sentence how the recorded `selection` differs from what a new installation would choose, or None.

    It does not matter if the `installed` distributions have code for the target chosen now that a process finds, if
    nothing but the default speaks for the target chosen now, or if the recorded one serves a GPU of this machine.
    Without a record (the static wheel) nothing was chosen. Raises TargetError as `select_target` does.
    """
    if not known.targets:
        return None
    now = select_target(known.targets, known.default_target, environ, gpus, known.members)
    if selection is None or now.source == "default" or now.target == selection["target"]:
        return None
    if now.target in known.targets_in_use(selection, installed):
        return None
    recorded = [selection["target"]]
    if now.source == "detection" and any(match_target(gpu.target, recorded, known.members) for gpu in gpus):
        return None
    return f"rocm was installed for {selection['target']} ({selection['reason']}), but here {now.reason}."


def choose_again(known: Distributions, packages: Mapping[str, InstalledPackage], installer: str) -> str:
    """Return the command that makes the choice anew, for `pip` or `uv`, with the extras that are installed.

    Only `rocm` itself is built and installed again, the other packages only as they differ.
    """
    wanted = requirement(known, packages)
    if installer == "uv":
        # Neither is enough alone, and uv takes the cached wheel in spite of --refresh-package (tried with 0.13).
        return f'uv pip install --no-cache --reinstall-package rocm "{wanted}"'
    return f'pip uninstall -y rocm && pip install --no-cache-dir "{wanted}"'


def requirement(known: Distributions, packages: Collection[str]) -> str:
    """Return the requirement for `rocm` in this version, with what is installed as its extras."""
    per_target = [names.distribution in packages for names in known.target_packages().values()]
    extras = [
        role for role, names in known.packages.items() if not names.is_per_target and names.distribution in packages
    ]
    extras += ["device" if known.layout == "split" else "libraries"] if any(per_target) else []
    listed = ",".join(sorted(set(extras) - {"core"}))
    return f"rocm[{listed}]=={known.version}" if listed else f"rocm=={known.version}"


def installer_name(known: Distributions) -> str:
    """Return what `rocm` was installed with; `pip` if nothing says so."""
    own = own_package(known)
    return own.installer if own else "pip"
