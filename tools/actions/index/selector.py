"""The GPU targets of a build and their packages, as a landing page tells of them.

read_selector("distributions.json").targets
"""

from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from tools.lib.common.distributions import CORE, parse_distributions, target_extra
from tools.lib.common.program import ToolError


@dataclass(frozen=True)
class TargetPackage:
    """A GPU target, or a family of them, and the package that serves it alone."""

    name: str
    #: The package's normalised name (PEP 503).
    project: str
    #: The selector's extra that brings it.
    extra: str


@dataclass(frozen=True)
class Selector:
    """What the selector chooses from."""

    targets: tuple[TargetPackage, ...]
    #: The target where nothing is found out about the machine; "" if there is none.
    default_target: str
    #: Roles of packages that extras of the same name bring.
    roles: tuple[str, ...]


def read_selector(path: str) -> Selector:
    """Read `_distributions.json`; raises ToolError with the field that is missing."""
    try:
        known = parse_distributions(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ToolError(f"{path}: {error}; expected a file as distributions_file writes it") from None
    names = known.packages.get(known.target_role)
    if known.targets and names is None:
        raise ToolError(f"{path}: lacks packages.{known.target_role}; expected a package for each of its targets")
    targets = tuple(
        TargetPackage(
            name=target,
            project=canonicalize_name(names.for_target(target).distribution),
            extra=target_extra(known.target_role, target),
        )
        for target in known.targets
        if names
    )
    return Selector(targets, known.default_target, tuple(sorted(known.packages.keys() - {CORE})))
