"""Checks of the packages as such: that they fit together, and that every installed file is as RECORD says."""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..detect import detect_gpus
from ..devel_tree import ARCHIVE
from ..device_code import missing_device_code
from ..distributions import Distributions, load_selection
from ..installation import (
    InstalledPackage,
    Row,
    half_removed_remedy,
    install,
    is_below,
    is_same_release,
    own_package,
    reinstall,
)
from ..mismatch import mismatch_here
from ..targets import selection_in_effect
from . import FailureError, SkipError

READ_BYTES = 1 << 20


def check_packages(known: Distributions, packages: Mapping[str, InstalledPackage]) -> str:
    """Check that core is there, and all packages are of one version and in one directory, with their trees."""
    core = known.packages["core"].distribution
    if core not in packages:
        remedy = half_removed_remedy(known.packages["core"], known)
        raise FailureError(f"{core} is not installed. {remedy or f'Install it: {_install(core, known)}'}")
    versions = {name: package.version for name, package in packages.items()}
    wrong = [f"{name} {version}" for name, version in versions.items() if not is_same_release(version, known.version)]
    if wrong:
        raise FailureError(f"rocm is {known.version}, but found {', '.join(wrong)}. Install one version of all.")
    sites = sorted({str(package.site) for package in packages.values()})
    if len(sites) > 1:
        raise FailureError(f"packages must share one directory to find each other, but are in {', '.join(sites)}")
    missing = sorted({str(package.tree) for package in packages.values() if not package.tree.is_dir()})
    if missing:
        raise FailureError(f"missing: {', '.join(missing)}. Reinstall the package.")
    return ", ".join(packages)


def _install(distribution: str, known: Distributions) -> str:
    own = own_package(known)
    return install(f"{distribution}=={known.version}", own.installer if own else "pip")


def check_target(known: Distributions, packages: Mapping[str, InstalledPackage]) -> str:
    """Check that each GPU of the machine has code, from the target chosen at installation or from another package.

    It may have been chosen on another machine, for installers cache.
    """
    if not known.targets:
        raise SkipError("this version has no package per GPU target")
    fault = mismatch_here()
    if fault:
        raise FailureError(str(fault))
    selection = load_selection()
    for lack in missing_device_code(known, selection_in_effect(known), packages, detect_gpus()):
        if lack.severity == "problem":
            raise FailureError(f"{lack.text}. {lack.remedy}")
    chosen = str(selection["target"]) if selection else "no target was chosen: this is the static wheel"
    device = {names.distribution for names in known.target_packages().values()}
    if "device" in known.packages and known.packages["libraries"].distribution in packages and not device & {*packages}:
        remedy = _install("rocm[device]", known)
        return f"{chosen}. No package with device code is installed; GPU programs need it: {remedy}"
    return chosen


def check_ownership(known: Distributions, packages: Mapping[str, InstalledPackage]) -> str:
    """Check that no two packages own one path: uninstalling one would break the other."""
    devel = known.packages["devel"].tree
    owners: dict[Path, list[str]] = defaultdict(list)
    for name, package in packages.items():
        for row in package.rows():
            # What is made for the development tree may be listed by the packages that it leads to, too.
            if "__pycache__" not in row.path and not (is_below(row.path, devel) and not row.digest):
                owners[package.locate(row.path)].append(name)
    shared = sorted((str(path), names) for path, names in owners.items() if len(names) > 1)
    if shared:
        path, names = shared[0]
        raise FailureError(f"{len(shared)} paths belong to more than one package, such as {path}: {', '.join(names)}.")
    return f"{len(owners)} paths"


def check_record(package: InstalledPackage, quick: bool = False) -> str:
    """Check that every file that RECORD lists is there, with the size and the hash that it gives; `quick`: the size."""
    if not package.record.is_file():
        raise SkipError(f"{package.dist_info} has no RECORD: the files are another package manager's")
    rows = lasting_rows(package)
    faults = find_changed(package, rows, quick)
    if faults:
        raise FailureError(
            f"{len(faults)} of {len(rows)} files are not as RECORD says: {faults[0]}. Reinstall it: "
            f"{reinstall(package)}"
        )
    return f"{len(rows)} files"


def lasting_rows(package: InstalledPackage) -> list[Row]:
    """Return the rows of a package's RECORD without Python's caches, which may be removed at any time."""
    return [row for row in package.rows() if not row.path.endswith(".pyc")]


def find_changed(package: InstalledPackage, rows: Iterable[Row], quick: bool) -> list[str]:
    """Say what is wrong with each file of these rows that is missing or changed; `quick` compares sizes, not hashes."""
    return [fault for row in rows for fault in [_find_fault(package.locate(row.path), row, quick)] if fault]


def _find_fault(path: Path, row: Row, quick: bool) -> str:
    """Return what is wrong with a file, or ""; a row without size and hash only says that it is there."""
    if not path.exists():
        # The archive of the development tree may be removed once the tree is made.
        return "" if path.name == ARCHIVE else f"{row.path} is missing"
    if row.size and path.stat().st_size != int(row.size):
        return f"{row.path} has {path.stat().st_size} bytes, not {row.size}"
    algorithm, _, expected = row.digest.partition("=")
    if quick or not expected:
        return ""
    return "" if _digest(path, algorithm) == expected else f"{row.path} has other contents ({algorithm} differs)"


def _digest(path: Path, algorithm: str) -> str:
    """Return a file's hash as RECORD has it: urlsafe base64 without padding (binary distribution format, PEP 427)."""
    found = hashlib.new(algorithm)
    buffer = memoryview(bytearray(READ_BYTES))
    with open(path, "rb", buffering=0) as stream:
        while length := stream.readinto(buffer):
            found.update(buffer[:length])
    return base64.urlsafe_b64encode(found.digest()).rstrip(b"=").decode()


def check_devel(known: Distributions, packages: Mapping[str, InstalledPackage]) -> str:
    """Check that the tree, made if need be, is whole and links to the installed files; say what else is in it."""
    if known.packages["devel"].distribution not in packages:
        raise SkipError("not installed")
    from ..devel import devel_root, find_layout

    devel_root()
    layout = find_layout(known)
    faults = layout.faults()
    if faults:
        raise FailureError(f"{len(faults)} faults: {'; '.join(faults[:5])}. Run `rocm-sdk init`, or reinstall it.")
    found = layout.tree.user_files()
    return f"{len(found)} files in it are no package's, and stay: {', '.join(found[:3])}" if found else ""
