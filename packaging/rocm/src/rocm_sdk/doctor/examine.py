"""The table of the checks of `rocm-sdk doctor`, and running them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..detect import FORCE_VARIABLE, forced_gpus
from ..distributions import load_distributions
from ..errors import TargetError
from ..targets import ENVIRONMENT_VARIABLE, selection_in_effect
from . import SEVERITIES, Finding, gpus, loading, other_rocm, packages
from .facts import Facts, gather

#: In the order in which findings of one severity are printed.
CHECKS: tuple[Callable[[Facts], Iterable[Finding]], ...] = (
    packages.missing_core,
    packages.half_removed,
    packages.scattered,
    packages.version_skew,
    packages.changed_files,
    packages.development_tree,
    packages.compiler,
    loading.libraries_here,
    gpus.absent,
    gpus.closed_devices,
    gpus.hidden,
    gpus.other_target,
    gpus.device_code,
    loading.shadowed_libraries,
    loading.opencl_drivers,
    other_rocm.other_roots,
    other_rocm.other_variables,
    other_rocm.other_programs,
    other_rocm.bundled_copies,
    other_rocm.cuda_builds,
    other_rocm.missing_imports,
)


def examine(root: Path = Path("/")) -> list[Finding]:
    """Return all that was found on the machine whose file system is at `root`, problems first, notes last."""
    with usable_environment() as findings:
        facts = gather(root)
        for check in CHECKS:
            findings += _run(check, facts)
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _run(check: Callable[[Facts], Iterable[Finding]], facts: Facts) -> list[Finding]:
    """Return what a check finds; what goes wrong in it, whatever it is, must not keep the others from being done."""
    try:
        return list(check(facts))
    except Exception as error:
        text = f"the check {check.__name__} could not be done: {type(error).__name__}: {error}"
        return [Finding("doctor", "problem", text, "Report this to those who built the packages.")]


@contextmanager
def usable_environment() -> Iterator[list[Finding]]:
    """Leave out environment variables that ask for what is not there, and yield a finding for each.

    All other checks go on without them: every command that reads such a variable stops.
    """
    wrong: dict[str, str] = {}
    findings: list[Finding] = []
    for name, check in ((FORCE_VARIABLE, forced_gpus), (ENVIRONMENT_VARIABLE, _check_target)):
        try:
            check()
        except TargetError as error:
            findings.append(Finding("target", "problem", str(error), f"unset {name}"))
            wrong[name] = os.environ.pop(name)
    try:
        yield findings
    finally:
        os.environ.update(wrong)


def _check_target() -> None:
    selection_in_effect(load_distributions())
