"""The packages among which the selector chooses: `_distributions.json`, in its sdist and its static wheel.

    known = parse_distributions(text)
    known.selected()["rocm-sdk-device-gfx942"]   # ("device", "gfx942")

`packaging/package_targets.bzl` writes the file. This is the one reader among the tools; what is installed reads it with
`rocm_sdk.distributions`, which needs no tool. The selector's sdist computes its requirements where it is installed, for
the GPU target that it finds there. All that it can come to require is computed here, for every target.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

FILE_NAME: Final = "_distributions.json"
#: Stands for the target in the names of packages that there are one of per target.
PER_TARGET: Final = "{target}"
#: The role of the package that everything builds on: no extra names it.
CORE: Final = "core"
LIBRARIES: Final = "libraries"
DEVICE: Final = "device"


@dataclass(frozen=True)
class PackageNames:
    """Names of a package, maybe with `{target}`: its distribution, its tree, and its import package."""

    distribution: str
    tree: str
    import_name: str = ""
    """Empty for a package that is not imported."""

    @property
    def is_per_target(self) -> bool:
        """Whether there is one such package for each target."""
        return PER_TARGET in self.distribution

    def for_target(self, target: str) -> "PackageNames":
        """Return the names of the package for one target."""
        return PackageNames(
            self.distribution.replace(PER_TARGET, target.split(":")[0]),
            named_tree(self.tree, target),
            named_tree(self.import_name, target),
        )


@dataclass(frozen=True)
class Distributions:
    """The names, targets and version of all packages of a build."""

    version: str
    layout: str
    """How device code is spread over packages: `split`, `family` or `thin`."""
    targets: tuple[str, ...]
    """GPU targets and families, in the order of preference."""
    default_target: str
    """The target where nothing is found out about the machine; empty if there is none."""
    packages: Mapping[str, PackageNames]
    """By role, such as `core`."""
    platforms: Mapping[str, "Distributions"] = field(default_factory=dict)
    """What there is on each platform, by `sys.platform`; empty for a build for one platform."""

    def on(self, platform: str) -> "Distributions":
        """Return what there is on a platform, as `sys.platform` names it: all, if the build is for one platform."""
        return self.platforms.get(platform, self)

    @property
    def target_role(self) -> str:
        """The role of the packages that there are one of per target."""
        return DEVICE if self.layout == "split" else LIBRARIES

    def selected(self) -> dict[str, tuple[str, str]]:
        """Return every distribution that can be selected, with its role and its target (empty if it is for all)."""
        return {
            names.for_target(target).distribution if target else names.distribution: (role, target)
            for role, names in self.packages.items()
            for target in (self.targets if names.is_per_target else ("",))
        }

    def pins(self) -> dict[str, list[str]]:
        """Return what each extra can come to require, of all targets together, as `name==version`.

        The key "" has what is required always. What some platforms lack has a marker (PEP 508) behind `; `.
        """
        by_role: dict[str, list[str]] = {}
        by_target: dict[str, list[str]] = {}
        platforms = {platform: one.selected() for platform, one in self.platforms.items()}
        for distribution, (role, target) in self.selected().items():
            there = [f'sys_platform == "{name}"' for name, selected in platforms.items() if distribution in selected]
            marker = f"; {' or '.join(there)}" if len(there) < len(platforms) else ""
            pin = f"{distribution}=={self.version}{marker}"
            by_role.setdefault(role, []).append(pin)
            if target:
                by_target.setdefault(target, []).append(pin)
        libraries = by_role.get(LIBRARIES, [])
        pins = {"": by_role.get(CORE, [])} | {role: by_role[role] for role in by_role if role not in (CORE, DEVICE)}
        if DEVICE in by_role:
            pins |= {DEVICE: libraries + by_role[DEVICE], "device-all": libraries + by_role[DEVICE]}
            pins |= {target_extra(DEVICE, target): libraries + own for target, own in by_target.items()}
        else:
            pins |= {target_extra(LIBRARIES, target): own for target, own in by_target.items()}
        return pins


def target_extra(role: str, target: str) -> str:
    """Return the extra that brings the package of a role for one target."""
    return f"{role}-{target.lower()}"


def named_tree(template: str, target: str) -> str:
    """Return the name of a tree or import package for a target: as an identifier has to be written."""
    return template.replace(PER_TARGET, re.sub(r"\W", "_", target.split(":")[0]))


def parse_distributions(text: str | bytes) -> Distributions:
    """Read the content of the file. Raises ValueError, which says what it lacks, when it is not what is expected."""
    try:
        document: Any = json.loads(text)
        packages = {str(role): _names(names) for role, names in sorted(document["packages"].items())}
        known = Distributions(
            version=str(document["version"]),
            layout=str(document["layout"]),
            targets=tuple(str(target) for target in document["targets"]),
            default_target=str(document["default_target"]),
            packages=packages,
        )
        there = {str(name): _part(known, one) for name, one in sorted(document.get("platforms", {}).items())}
        return replace(known, platforms=there)
    except KeyError as error:
        raise ValueError(f"lacks {error}") from None
    except (TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"expected version, layout, targets, default_target and packages: {error!r}") from None


def _part(known: Distributions, part: Mapping[str, Any]) -> Distributions:
    """Return what a build has for one platform."""
    return replace(
        known,
        packages={role: known.packages[role] for role in sorted(part["packages"])},
        targets=tuple(str(target) for target in part["targets"]),
        default_target=str(part["default_target"]),
    )


def _names(names: Mapping[str, Any]) -> PackageNames:
    if not names["distribution"] or not names["tree"]:
        raise ValueError(f"an empty name in {dict(names)}")
    return PackageNames(str(names["distribution"]), str(names["tree"]), str(names.get("import", "")))
