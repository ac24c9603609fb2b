"""Checks that the development tree, once its links are made, mirrors the runtime packages."""

import posixpath
from collections.abc import Iterator, Mapping
from typing import Final

from packaging.utils import canonicalize_name

from lib.common.distributions import Distributions, PackageNames
from wheels.verify.finding import Finding, Rule
from wheels.verify.wheel_set.loader import Installation, outward
from wheels.verify.wheel_set.model import DevelTree, Package

BROKEN = Rule(
    "S151",
    "the links or the archive of the development tree cannot be read",
    why="The development tree cannot be made: all commands that need it fail.",
    remedy="Build the package again. If that does not help, report it to those who make the rules.",
)
DANGLING = Rule(
    "S152",
    "a link of the development tree leads nowhere",
    why="The link is not made: compiling, linking or running through it fails.",
    remedy="Ship the file that it leads to, or leave the link out.",
)
NOT_MIRRORED = Rule(
    "S153",
    "a file of a runtime package is not in the development tree",
    why="Builds against the tree do not find the file, although it is installed.",
    remedy="Make both packages from the same artifacts.",
)
SECOND_COPY = Rule(
    "S154",
    "the development tree has a copy of its own of a file that a runtime package has",
    why="A process that loads both has two instances of the library, and the two can differ after an upgrade.",
    remedy="Let the development package have a link to the runtime package's file.",
)
#: What makes a tree a Python package; each has its own.
MODULE: Final = "__init__.py"
#: Roles of the packages whose trees the development tree mirrors.
_MIRRORED: Final = ("core", "libraries")


def check_devel(package: Package, selector: Distributions | None, whole: Installation) -> Iterator[Finding]:
    """Check the development tree of a package against all packages installed together."""
    devel = package.devel
    if devel is None:
        return
    if devel.damage:
        yield BROKEN.finding(package.filename, devel.archive, devel.damage)
        return
    for path, text in sorted(devel.links.items()):
        if not _leads_somewhere(devel, path, text, whole):
            yield DANGLING.finding(package.filename, devel.archive, f"{path} -> {text}")
    mirrored = _mirrored(selector)
    for owner in whole.packages:
        tree = mirrored.get(owner.name)
        for source in sorted(owner.files) if tree else ():
            top, _, below = source.partition("/")
            if top == tree and below not in ("", MODULE):
                yield from _check_mirror(package, devel, f"{devel.tree}/{below}", source, owner)


def _leads_somewhere(devel: DevelTree, path: str, text: str, whole: Installation) -> bool:
    source = outward(devel, path, text)
    return whole.places.resolve(path if source is None else source) is not None


def _mirrored(selector: Distributions | None) -> dict[str, str]:
    """Return, by distribution, the trees that the archive itself mirrors; those by target are linked in later."""
    packages: Mapping[str, PackageNames] = selector.packages if selector else {}
    found = (packages[role] for role in _MIRRORED if role in packages and not packages[role].is_per_target)
    return {canonicalize_name(names.distribution): names.tree for names in found}


def _check_mirror(package: Package, devel: DevelTree, path: str, source: str, owner: Package) -> Iterator[Finding]:
    linked = owner.linked.get(source)
    is_marker = canonicalize_name(posixpath.basename(path)[1:]) == owner.name
    if is_marker or (linked is not None and linked.is_forwarder):
        return
    if path in devel.files:
        evidence = f"{path}, {devel.files[path]} bytes; {owner.filename} has {source}, {owner.files[source].size} bytes"
        yield SECOND_COPY.finding(package.filename, devel.archive, evidence)
    elif path not in devel.links:
        yield NOT_MIRRORED.finding(package.filename, devel.archive, f"{path}, for {source} of {owner.filename}")
