"""The GPU targets of a build and their packages, as a landing page tells of them.

read_selector("distributions.json").targets
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from lib.common.distributions import CORE, Distributions, parse_distributions, target_extra
from lib.common.program import ToolError

#: By `sys.platform`, what pages call platforms.
_PAGES = {"linux": "Linux", "win32": "Windows"}


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
    """Packages that the selector chooses from."""

    targets: tuple[TargetPackage, ...]
    #: The target where nothing is found out about the machine; "" if there is none.
    default_target: str
    #: Roles of packages that extras of the same name bring.
    roles: tuple[str, ...]
    #: What it chooses from on each platform, as pages name it (`Windows`), if they differ.
    platforms: Mapping[str, "Selector"] = field(default_factory=dict)

    def on(self, platform: str) -> "Selector":
        """Return what it chooses from on a platform."""
        return self.platforms.get(platform, self)


def read_selector(path: str) -> Selector:
    """Read `_distributions.json`; raises ToolError with the field that is missing."""
    return parse_selector(Path(path).read_text(encoding="utf-8"), path)


def parse_selector(text: str | bytes, path: str) -> Selector:
    """Read the content of `_distributions.json`; raises ToolError, which names the path, if a field is missing."""
    try:
        known = parse_distributions(text)
    except ValueError as error:
        raise ToolError(f"{path}: {error}; expected a file as distributions_file writes it") from None
    if known.targets and known.target_role not in known.packages:
        raise ToolError(f"{path}: lacks packages.{known.target_role}; expected a package for each of its targets")
    platforms = {page: _selector(known.on(sys_platform)) for sys_platform, page in _PAGES.items() if known.platforms}
    return replace(_selector(known), platforms=platforms)


def _selector(known: Distributions) -> Selector:
    names = known.packages.get(known.target_role)
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
