"""Packages of one kind, each for one GPU target: what one of them has, the others need, for their own GPU.

`rocm-sdk-libraries-gfx1030` and `rocm-sdk-libraries-gfx90a` differ in nothing but the target in their names and in
those of their trees. So paths are compared with the target left out. Packages that share one tree complete each other:
of these, `tools.verify.device.checks` looks at the tree.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from packaging.utils import canonicalize_name

from tools.verify.device.offers import device_files, named_files
from tools.verify.device.owned import Owned
from tools.verify.device.rules import MISSING_LIBRARY, NO_CODE
from tools.verify.finding import Finding
from tools.verify.over_set.model import Package
from tools.verify.over_set.selector import PER_TARGET, named_tree

_TARGET: Final = re.compile(r"gfx[0-9]")


def check_peers(packages: Sequence[Package], owned: Mapping[str, Owned]) -> Iterator[Finding]:
    """Check all packages that are for one target, and have code for no other, against those of their kind."""
    kinds: dict[tuple[object, ...], list[tuple[Package, str]]] = {}
    for package in packages:
        own = owned.get(package.name)
        if own is not None and own.is_exact:
            stem = package.name.removesuffix(canonicalize_name(own.target))
            kinds.setdefault((stem, package.version, package.tags), []).append((package, own.target))
    for peers in kinds.values():
        libraries: dict[str, Package] = {}
        directories: dict[str, Package] = {}
        for package, target in peers:
            for key in _libraries(package, target):
                libraries.setdefault(key, package)
            for key in _directories(package, target):
                directories.setdefault(key, package)
        for package, target in peers:
            yield from _check_libraries(package, target, libraries)
            yield from _check_directories(package, target, directories)


def _check_libraries(package: Package, target: str, wanted: Mapping[str, Package]) -> Iterator[Finding]:
    own = _libraries(package, target)
    for key in sorted(wanted.keys() - own):
        path = _path(key, target)
        if path in package.files:
            evidence = f"no device code at all; there is code in the library of {wanted[key].filename}"
            yield NO_CODE.finding(package.filename, path, evidence)
        else:
            yield MISSING_LIBRARY.finding(package.filename, path, f"{wanted[key].filename} has this library")


def _check_directories(package: Package, target: str, wanted: Mapping[str, Package]) -> Iterator[Finding]:
    for key in sorted(wanted.keys() - _directories(package, target)):
        evidence = f"no file for {target} is here; {wanted[key].filename} has such files for its target"
        yield MISSING_LIBRARY.finding(package.filename, _path(key, target), evidence)


def _libraries(package: Package, target: str) -> set[str]:
    """Return the keys of the libraries with device code."""
    return _keys((path for path, facts in device_files(package).items() if facts.bundles), target)


def _directories(package: Package, target: str) -> set[str]:
    """Return the keys of the directories with files that are named for a target."""
    return _keys((posixpath.dirname(path) for path in named_files(package)), target)


def _keys(paths: Iterator[str], target: str) -> set[str]:
    """Return the paths with a placeholder for the target, if it is in the name of their tree and there is no other."""
    keys = {path.replace(named_tree(PER_TARGET, target), PER_TARGET) for path in paths}
    return {key for key in keys if PER_TARGET in key.partition("/")[0] and not _TARGET.search(key)}


def _path(key: str, target: str) -> str:
    return key.replace(PER_TARGET, named_tree(PER_TARGET, target))
