"""The GPU targets of a build and their packages, as the selector's `_distributions.json` says.

    read_selector("distributions.json").targets

`packaging/distributions.bzl` writes that file; here is read what a page for people tells of it.
"""

from dataclasses import dataclass

from packaging.utils import canonicalize_name

from tools.lib.common.program import ToolError, read_document

#: The role of the package that everything builds on: no extra names it.
CORE = "core"


@dataclass(frozen=True)
class Target:
    """A GPU target, or a family of them, and the package that serves it alone."""

    name: str
    #: The package's normalised name (PEP 503).
    project: str
    #: The selector's extra that brings it.
    extra: str


@dataclass(frozen=True)
class Selector:
    """What the selector chooses from."""

    targets: tuple[Target, ...]
    #: The target where nothing is found out about the machine; "" if there is none.
    default_target: str
    #: Roles of packages that extras of the same name bring.
    roles: tuple[str, ...]


def read_selector(path: str) -> Selector:
    """Read `_distributions.json`; raises ToolError with the field that is missing."""
    document = read_document(path)
    try:
        packages = {role: package["distribution"] for role, package in document["packages"].items()}
        # In the layouts family and thin the libraries are per target, and there are no device packages.
        role = "device" if document["layout"] == "split" else "libraries"
        targets = tuple(
            Target(
                name=name,
                project=canonicalize_name(packages[role].replace("{target}", name)),
                extra=f"{role}-{name.lower()}",
            )
            for name in document["targets"]
        )
        return Selector(targets, document["default_target"], tuple(sorted(packages.keys() - {CORE})))
    except KeyError as error:
        raise ToolError(f"{path}: lacks {error}; expected a file as distributions_file writes it") from None
