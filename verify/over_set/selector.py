"""What the selector says about the packages that it selects: `_distributions.json`, in sdist and static wheel.

The sdist computes its requirements where it is installed, for the GPU target that it finds there. All that it can come
to require is computed here, for every target.
"""

import json
import posixpath
import re
from collections.abc import Mapping
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement

from verify.over_set.model import Selector

FILE_NAME: Final = "_distributions.json"
#: A bigger file is something else, in bytes.
MAX_SIZE: Final = 1 << 20
#: Stands for the target in the names of packages that there are one of per target.
PER_TARGET: Final = "{target}"


def is_selector_file(path: str) -> bool:
    """Whether a path is that of the selector's data."""
    return posixpath.basename(path) == FILE_NAME


def parse_selector(distribution: str, text: bytes) -> Selector:
    """Read the data of the selector of that name. Raises ValueError when it is not what is expected."""
    try:
        document: Any = json.loads(text)
        packages = {
            str(role): {str(key): str(value) for key, value in names.items()} for role, names in _items(document)
        }
        for role, names in packages.items():
            if not names["distribution"] or not names["tree"]:
                raise ValueError(f"{role} has an empty name")
        targets = tuple(str(target) for target in document["targets"])
        layout = str(document.get("layout", ""))
        default = str(document["default_target"])
        return Selector(distribution, str(document["version"]), targets, default, packages, layout)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"expected version, targets, default_target and packages: {error!r}") from None


def _items(document: Any) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(document["packages"].items())


def named(template: str, target: str) -> str:
    """Return the name of a distribution for a target, without its features."""
    return template.replace(PER_TARGET, target.split(":")[0])


def named_tree(template: str, target: str) -> str:
    """Return the name of a tree or import package for a target: as an identifier has to be written."""
    return template.replace(PER_TARGET, re.sub(r"\W", "_", target.split(":")[0]))


def is_per_target(names: Mapping[str, str]) -> bool:
    """Whether there is one such package for each target."""
    return PER_TARGET in names["distribution"]


def selected_distributions(selector: Selector) -> dict[str, tuple[str, str]]:
    """Return every distribution that can be selected, with its role and its target (empty if it is for all)."""
    found = {}
    for role, names in selector.packages.items():
        for target in selector.targets if is_per_target(names) else ("",):
            found[named(names["distribution"], target)] = (role, target)
    return found


def selected_requirements(selector: Selector) -> dict[str, list[Requirement]]:
    """Return what each extra can come to require, of all targets together; the key "" has what is required always.

    The requirements have the extra as their marker.

    Raises ValueError when names or the version are not such as a requirement can be made of.
    """
    by_role: dict[str, list[str]] = {}
    by_target: dict[str, list[str]] = {}
    for distribution, (role, target) in selected_distributions(selector).items():
        pin = f"{distribution}=={selector.version}"
        by_role.setdefault(role, []).append(pin)
        if target:
            by_target.setdefault(target, []).append(pin)
    libraries = by_role.get("libraries", [])
    pins = {"": by_role.get("core", [])} | {role: by_role[role] for role in by_role if role not in ("core", "device")}
    if "device" in by_role:
        pins |= {"device": libraries + by_role["device"], "device-all": libraries + by_role["device"]}
        pins |= {f"device-{target}": libraries + own for target, own in by_target.items()}
    else:
        pins |= {f"libraries-{target}": own for target, own in by_target.items()}
    try:
        return {extra.lower(): [_requirement(pin, extra.lower()) for pin in wanted] for extra, wanted in pins.items()}
    except InvalidRequirement as error:
        raise ValueError(str(error)) from None


def _requirement(pin: str, extra: str) -> Requirement:
    return Requirement(f'{pin}; extra == "{extra}"' if extra else pin)
