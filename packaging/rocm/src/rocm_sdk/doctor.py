"""What around the packages can keep them from working, and what to do about it: `rocm-sdk doctor`.

`rocm-sdk test` checks the packages themselves. Here it is the machine and the environment: `examine` gathers what the
functions of `symptoms` and `device_code` find. A problem breaks something; a warning may be as you want it; a note is
only to be known.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import symptoms
from .detect import Gpu, detect_gpus
from .devel.layout import find_layout
from .device_code import libraries_without_code, load_lacks, missing_device_code
from .distributions import Distributions, load_distributions, load_selection
from .errors import DevelNotInstalledError, TargetError
from .installation import InstalledPackage, installed_packages, own_package
from .libraries import find_libraries
from .mismatch import mismatch_here
from .selfcheck.check import FailureError, run_python
from .symptoms import SEVERITIES, Finding
from .targets import selection_in_effect


def examine(root: Path = Path("/")) -> list[Finding]:
    """Return all that was found on the machine whose file system is at `root`, problems first, notes last."""
    known = load_distributions()
    packages = installed_packages(known)
    gpus = _gpus()
    selection = _selection(known)
    own = own_package(known)
    trees = sorted({*(package.tree for package in packages.values()), *_devel_roots()})
    sites = sorted({package.site for package in [*packages.values(), *([own] if own else [])]})
    findings = [
        *symptoms.missing_core(known, packages),
        *symptoms.scattered(packages),
        *symptoms.unloadable(_hip(), _load),
        *symptoms.version_skew(known, sites),
        *_mismatch(),
        *missing_device_code(known, selection, packages, gpus),
        *libraries_without_code(known, selection, packages, gpus, load_lacks()),
        *symptoms.closed_device(root, gpus),
        *symptoms.shadowed_libraries(os.environ, trees),
        *symptoms.unknown_preloads(os.environ),
        *symptoms.other_roots(root, trees),
        *symptoms.bundled_copies(sys.path, trees),
        *symptoms.other_variables(os.environ, trees),
        *symptoms.other_programs(os.environ.get("PATH", ""), _programs(packages.values()), trees),
    ]
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _gpus() -> list[Gpu]:
    """Return this machine's GPUs; a wrong environment variable is a finding of its own, of `_mismatch`."""
    try:
        return detect_gpus()
    except TargetError:
        return []


def _selection(known: Distributions) -> Mapping[str, Any] | None:
    """Return the choice in effect; a wrong environment variable is a finding of its own, of `_mismatch`."""
    try:
        return selection_in_effect(known)
    except TargetError:
        return load_selection()


def _hip() -> Path | None:
    with suppress(ModuleNotFoundError, FileNotFoundError):
        return find_libraries("amdhip64")[0]
    return None


def _load(library: Path) -> str:
    """Load a library in a process of its own; return what the loader says if it cannot."""
    try:
        run_python("import ctypes, sys; ctypes.CDLL(sys.argv[1])", str(library), isolated=True)
    except FailureError as failure:
        return str(failure)
    return ""


def _devel_roots() -> Iterator[Path]:
    """Yield where the development tree is, or is to be: not always in site-packages."""
    with suppress(DevelNotInstalledError):
        yield find_layout().root


def _mismatch() -> Iterator[Finding]:
    try:
        fault = mismatch_here()
    except TargetError as error:
        yield Finding("target", "problem", str(error))
        return
    if fault:
        yield Finding("target", "problem", fault.text, fault.command)


def _programs(packages: Iterable[InstalledPackage]) -> set[Path]:
    """Return the console scripts of the packages."""
    rows = [(package, row.path) for package in packages for row in package.rows()]
    return {package.locate(path).resolve() for package, path in rows if "/bin/" in path and path.startswith("..")}


def format_findings(findings: Sequence[Finding], *, as_json: bool = False) -> str:
    """Return the findings in words, or as a JSON object."""
    counts = {f"{name}s": sum(finding.severity == name for finding in findings) for name in ("problem", "warning")}
    if as_json:
        return json.dumps({**counts, "findings": [asdict(finding) for finding in findings]}, indent=2)
    lines = []
    for finding in findings:
        lines.append(f"{finding.severity}: {finding.name}: {finding.text}")
        lines += [f"    {finding.remedy}"] if finding.remedy else []
    return "\n".join([*lines, f"{counts['problems']} problems, {counts['warnings']} warnings"])
