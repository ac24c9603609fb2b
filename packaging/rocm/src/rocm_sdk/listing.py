"""Lists the installed packages with version, size and GPU target: `rocm-sdk list`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .distributions import load_distributions
from .installation import InstalledPackage, installed_packages, own_package


@dataclass(frozen=True)
class Listed:
    """One package: `target` is "" for a package that serves all, `size` is in bytes of files of its own."""

    name: str
    version: str
    target: str
    size: int
    site: str


def list_packages() -> list[Listed]:
    """Return the installed packages of this build, `rocm` first, then in the build's order.

    A file that several packages have as hard links counts once, for the first of them: the development tree has hard
    links to files of the runtime packages.
    """
    known = load_distributions()
    targets = {names.distribution: target for target, names in known.target_packages().items()}
    own = own_package(known)
    installed = [*([own] if own else []), *installed_packages(known).values()]
    # The development tree last: it holds links to the files of the others.
    installed.sort(key=lambda package: package.names == known.packages["devel"])
    counted: set[tuple[int, int]] = set()
    return [
        Listed(
            package.names.distribution,
            package.version,
            targets.get(package.names.distribution, ""),
            _measure(package, counted),
            str(package.site),
        )
        for package in installed
    ]


def _measure(package: InstalledPackage, counted: set[tuple[int, int]]) -> int:
    """Return the bytes of a package's files whose (device, inode) is not among those counted, and add them there."""
    size = 0
    for row in package.rows():
        status = _lstat(package.site / row.path)
        if status is not None and status[:2] not in counted:
            counted.add(status[:2])
            size += status[2]
    return size


def _lstat(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size


def format_list(packages: Sequence[Listed], *, as_json: bool = False) -> str:
    """Return the packages as a table with their sum, or as JSON: {"packages": […], "size": bytes}."""
    total = sum(package.size for package in packages)
    if as_json:
        return json.dumps({"packages": [asdict(package) for package in packages], "size": total}, indent=2)
    rows = [("package", "version", "target", "size")]
    rows += [(package.name, package.version, package.target or "-", format_size(package.size)) for package in packages]
    rows.append(("total", "", "", format_size(total)))
    sites = sorted({package.site for package in packages})
    return "\n".join([*_align(rows), *(f"in {site}" for site in sites)])


def _align(rows: Sequence[tuple[str, ...]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(widths[column]) for column, cell in enumerate(row[:-1])]
        yield "  ".join([*cells, row[-1].rjust(widths[-1])])


def format_size(size: int) -> str:
    """Return a number of bytes in words, with decimal prefixes: `1.7 GB`."""
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for prefix in "kMGT":
        value /= 1000
        if value < 999.95 or prefix == "T":
            break
    return f"{value:.1f} {prefix}B"
