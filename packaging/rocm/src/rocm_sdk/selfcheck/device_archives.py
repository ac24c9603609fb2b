"""The check of libraries whose device code lies in archives: they find those that are installed for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..devel import find_layout
from ..distributions import Distributions
from ..installation import InstalledPackage
from ..kpack import SUFFIX, archive_places
from ..record import read_record
from .binaries import list_elf_files
from .check import FailureError


def check_device_archives(known: Distributions, packages: Mapping[str, InstalledPackage]) -> str:
    """Check that libraries find each archive that is installed for them, from where they lie.

    That is the packages' trees and the development tree: archives are looked for beside the tree's `lib`.
    """
    rows = [row.path for package in packages.values() for row in package.rows()]
    archives = sorted({Path(row).name for row in rows if row.endswith(SUFFIX)})
    files, without, faults = 0, set(), []
    for path in _all_elf_files(known, packages):
        places = archive_places(path)
        wanted = [place.directory / name for place in places for name in archives if place.names.fullmatch(name)]
        faults += [f"{path} looks for {archive}, which is not there" for archive in wanted if not archive.is_file()]
        if places:
            files += 1
        if places and not wanted:
            without.add(path.name)
    if not files:
        return "no device code was split off libraries"
    if faults:
        raise FailureError(
            f"{len(faults)} faults in {files} files, for one: {faults[0]}. Report this to those who built the packages."
        )
    lacking = f"; no archive is installed for {', '.join(sorted(without))}" if without else ""
    return f"{files} files, {len(archives)} archives{lacking}"


def _all_elf_files(known: Distributions, packages: Mapping[str, InstalledPackage]) -> Iterator[Path]:
    devel = known.packages["devel"].distribution
    for name, package in packages.items():
        if name != devel:
            yield from list_elf_files(package.rows(), package.tree)
    if devel in packages:
        layout = find_layout(known)
        if layout.devel.record.is_file():
            yield from list_elf_files(read_record(layout.devel.record), layout.root)
