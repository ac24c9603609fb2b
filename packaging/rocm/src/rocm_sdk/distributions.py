"""Reads the build's data on its packages: names, version, GPU targets, and the target chosen at installation.

The build writes `_distributions.json` into this package. The sdist's build backend adds `_selected.json`, and the build
to wheel variants. All names of
distributions, import packages and trees come from there (they may carry a suffix that keeps two versions apart).
Both the installed runtime and the build backend call `load_distributions`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from .gpus.families import name_in_distribution
from .version import read_distributions

SELECTED_FILE = "_selected.json"


@dataclass(frozen=True)
class PackageNames:
    """The names of one package; each may hold `{target}` until `for_target` fills it in.

    `distribution` is the name installers know, `import_name` the glue package with Python code (empty when there is
    none, as for device packages), `tree` the directory in site-packages that holds the files of the SDK.
    """

    distribution: str
    import_name: str
    tree: str

    @property
    def is_per_target(self) -> bool:
        """Whether there is one such distribution for each target."""
        return "{target}" in self.distribution

    def for_target(self, target: str) -> PackageNames:
        """Return the names for one target: of the package that owns it (`gfx950:xnack+` lives with `gfx950`)."""
        base = name_in_distribution(target)
        identifier = re.sub(r"\W", "_", base)
        return replace(
            self,
            distribution=self.distribution.replace("{target}", base),
            import_name=self.import_name.replace("{target}", identifier),
            tree=self.tree.replace("{target}", identifier),
        )


@dataclass(frozen=True)
class Platform:
    """Packages of a build for one of its platforms: their roles, the targets, and the default target."""

    packages: frozenset[str]
    targets: tuple[str, ...]
    default_target: str


@dataclass(frozen=True)
class Distributions:
    """The set of packages of one build.

    `layout` is `split` (device code in packages of its own), `family` (a libraries package per family of targets, with
    device code inside), or `thin` (the same per target, made of libraries for many by leaving out all other code).
    `packages` has the keys `core`, `libraries`, `device` (split only), `devel`, and `profiler` if it was built.
    `version_suffix` is what all trees' names end in, so that packages of other versions can lie beside them; or "".
    `members` are the targets that there is code for in a thin package of several, by the name of that family.
    `platforms` is empty for a build for one platform; else it says by `sys.platform` what there is for each.
    """

    version: str
    layout: str
    targets: tuple[str, ...]
    default_target: str
    packages: dict[str, PackageNames]
    version_suffix: str = ""
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    platforms: Mapping[str, Platform] = field(default_factory=dict)

    def on(self, platform: str) -> Distributions:
        """Return what there is on a platform, as `sys.platform` names it: all, if the build is for one platform."""
        here = self.platforms.get(platform)
        if here is None:
            return self
        packages = {role: names for role, names in self.packages.items() if role in here.packages}
        return replace(self, packages=packages, targets=here.targets, default_target=here.default_target, platforms={})

    def marker(self, role: str, target: str = "") -> str:
        """Return the marker (PEP 508) of a requirement for a package, for its target if it has one.

        It is empty for a package of all platforms. Raises ValueError for a package of no platform.
        """
        there = [
            name
            for name, one in self.platforms.items()
            if role in one.packages and (not self.packages[role].is_per_target or target in one.targets)
        ]
        if len(there) == len(self.platforms):
            return ""
        if not there:
            raise ValueError(f"no platform has the package {role} for the target {target!r}")
        return " or ".join(f'sys_platform == "{name}"' for name in there)

    def target_packages(self) -> dict[str, PackageNames]:
        """Return the names of the packages that exist once per target, by target, in the build's order."""
        templates = [names for names in self.packages.values() if names.is_per_target]
        return {target: names.for_target(target) for target in self.targets for names in templates}

    def by_preference(self, selection: Mapping[str, Any] | None) -> list[str]:
        """Return the targets, first the one of the selection, or the default if there is none."""
        chosen = (selection or {}).get("target", self.default_target)
        return sorted(self.targets, key=lambda target: target != chosen)

    def targets_in_use(self, selection: Mapping[str, Any] | None, installed: Collection[str]) -> list[str]:
        """Return the targets for which a process finds code in the `installed` distributions.

        All device packages count: they share a tree. Of libraries packages it is one, the preferred: a process cannot
        have a library twice.
        """
        packages = self.target_packages()
        found = [target for target in self.by_preference(selection) if packages[target].distribution in installed]
        return found if "device" in self.packages else found[:1]


def parse_distributions(text: str) -> Distributions:
    """Read the contents of `_distributions.json`.

    Raises KeyError for a missing field and ValueError for broken JSON: both are defects of the build, not of a user.
    """
    fields: dict[str, Any] = json.loads(text)
    packages = {
        role: PackageNames(names["distribution"], names.get("import", ""), names["tree"])
        for role, names in fields["packages"].items()
    }
    return Distributions(
        fields["version"],
        fields["layout"],
        tuple(fields["targets"]),
        fields["default_target"],
        packages,
        fields.get("version_suffix", ""),
        {family: tuple(targets) for family, targets in fields.get("members", {}).items()},
        {
            name: Platform(frozenset(one["packages"]), tuple(one["targets"]), one["default_target"])
            for name, one in fields.get("platforms", {}).items()
        },
    )


def load_distributions() -> Distributions:
    """Return the build's data, from this package: what there is on this platform."""
    return load_all_distributions().on(sys.platform)


@lru_cache(maxsize=None)
def load_all_distributions(directory: Path | None = None) -> Distributions:
    """Return the build's data for all platforms, from this package or the `directory` of one yet to be packed."""
    return parse_distributions(read_distributions(str(directory or "")))


def load_selection() -> dict[str, Any] | None:
    """Return what was recorded when this installation's target was chosen; None if nothing was.

    A wheel variant for several platforms says it for each.
    """
    path = Path(__file__).parent / SELECTED_FILE
    if not path.is_file():
        return None
    selection: dict[str, Any] = json.loads(path.read_text("utf-8"))
    here: dict[str, Any] = selection.get("platforms", {}).get(sys.platform, selection)
    return here
