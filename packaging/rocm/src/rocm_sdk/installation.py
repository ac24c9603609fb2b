"""Finds the installed packages of this build, reads their RECORDs, and names the commands that repair them.

A package is found by its glue package (`rocm_sdk_core`), as Python itself would find it; its tree (`_rocm_sdk_core`)
and its metadata lie in the same site-packages directory. So with several such directories on `sys.path` the files
always belong to the code that runs. Reading directory names is enough: `importlib.metadata` is slow to import.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .distributions import Distributions, PackageNames, load_distributions


@dataclass(frozen=True)
class Row:
    """One file: its path relative to site-packages with `/`, its hash `algorithm=digest` and its size, both or none."""

    path: str
    digest: str = ""
    size: str = ""


def read_record(path: Path) -> list[Row]:
    """Return the rows of a RECORD file; raises OSError if it cannot be read."""
    with open(path, encoding="utf-8", newline="") as lines:
        return parse_record(lines)


def parse_record(lines: Iterable[str]) -> list[Row]:
    """Return the rows of a RECORD file's lines, which have their line ends; empty lines are passed over."""
    return [Row(*[*row, "", ""][:3]) for row in csv.reader(lines) if row]


def is_below(path: str, tree: str) -> bool:
    """Return whether `path` is the directory `tree` or lies in it; both are relative paths with `/`."""
    return path.rstrip("/") == tree or path.startswith(tree + "/")


OWN_DISTRIBUTION = "rocm"
_POST_RELEASE = re.compile(r"\.post\d+")


@dataclass(frozen=True)
class InstalledPackage:
    """One installed package; `dist_info` is its metadata directory (recorded installs, PEP 376)."""

    names: PackageNames
    site: Path
    dist_info: Path

    @property
    def tree(self) -> Path:
        """The directory of the package's SDK files."""
        return self.site / self.names.tree

    @property
    def record(self) -> Path:
        """The list of the package's installed files."""
        return self.dist_info / "RECORD"

    def rows(self) -> list[Row]:
        """Return the rows of RECORD. Where it was removed, as by rpm: the files of the package, without hashes."""
        if self.record.is_file():
            return read_record(self.record)
        directories = [self.tree, self.site / self.names.import_name] if self.names.import_name else []
        files = [path for directory in directories for path in sorted(directory.rglob("*")) if not path.is_dir()]
        return [Row(path.relative_to(self.site).as_posix()) for path in files]

    def locate(self, path: str) -> Path:
        """Return where a file of RECORD lies. `pip install --target` moves programs to `bin`, and leaves RECORD."""
        moved = self.site / "bin" / path.rpartition("/")[2]
        recorded = Path(os.path.normpath(self.site / path))
        return moved if path.startswith("../") and moved.is_file() else recorded

    @property
    def version(self) -> str:
        """The installed version, as the name of the metadata directory spells it."""
        return _version(self.dist_info)

    @property
    def installer(self) -> str:
        """Program that installed the package, from its metadata (PEP 376, INSTALLER); `pip` if that is missing."""
        file = self.dist_info / "INSTALLER"
        return file.read_text("utf-8").strip() if file.is_file() else "pip"


def find_site(import_name: str) -> Path | None:
    """Return the site-packages directory of a glue package, or None; a left-over empty directory does not count."""
    spec = importlib.util.find_spec(import_name)
    if spec is None or not spec.origin:
        return None
    return Path(spec.origin).parent.parent


def find_package(names: PackageNames, known: Distributions) -> InstalledPackage | None:
    """Return the installed package with a glue package of its own, or None."""
    site = find_site(names.import_name)
    return None if site is None else find_in_site(names, site, known)


def find_in_site(names: PackageNames, site: Path, known: Distributions) -> InstalledPackage | None:
    """Return the package if it is installed in the directory `site`."""
    return find_listed(names, site, list_dist_infos(site, known))


def find_listed(names: PackageNames, site: Path, dist_infos: dict[str, Path]) -> InstalledPackage | None:
    """Return the package if it is among the metadata directories of `site`."""
    found = dist_infos.get(normalize_name(names.distribution))
    return None if found is None else InstalledPackage(names, site, found)


def installed_packages(distributions: Distributions | None = None) -> dict[str, InstalledPackage]:
    """Return all installed packages of the build, by distribution name; device packages where the libraries are."""
    known = distributions or load_distributions()
    wanted = [names for names in known.packages.values() if not names.is_per_target]
    wanted += known.target_packages().values()
    glued = {names.distribution: find_package(names, known) for names in wanted if names.import_name}
    found = {name: package for name, package in glued.items() if package is not None}
    sites = list(dict.fromkeys(package.site for package in found.values()))
    for names in wanted:
        for site in sites if not names.import_name else []:
            package = find_in_site(names, site, known)
            if package is not None:
                found.setdefault(names.distribution, package)
    return found


def half_removed_packages(
    known: Distributions, installed: Mapping[str, InstalledPackage], sites: Iterable[Path]
) -> dict[str, InstalledPackage]:
    """Return the packages in `sites` that have their metadata, but not their glue package, by distribution name.

    They are not among the `installed`; but installers take them for installed.
    """
    wanted = [names for names in known.packages.values() if not names.is_per_target]
    wanted += known.target_packages().values()
    found: dict[str, InstalledPackage] = {}
    for site in sites:
        dist_infos = list_dist_infos(site, known)
        for names in wanted:
            package = find_listed(names, site, dist_infos)
            is_whole = not names.import_name or names.distribution in installed
            if package is not None and not is_whole:
                found.setdefault(names.distribution, package)
    return found


def list_dist_infos(site: Path, known: Distributions) -> dict[str, Path]:
    """Return the metadata directories in `site`, by normalized distribution name. Left-over empty ones do not count.

    If several have one name, the one with this build's version counts. If the build has a version suffix, packages of
    other versions can lie there with trees of their own; they are passed over.
    """
    found = {}
    rated = [(is_same_release(_version(path), known.version), path) for path in site.glob("*.dist-info")]
    for is_of_this_build, path in sorted(rated):
        if (is_of_this_build or not known.version_suffix) and (path / "METADATA").is_file():
            found[normalize_name(path.name.partition("-")[0])] = path
    return found


def _version(dist_info: Path) -> str:
    """Return the version in the name of a metadata directory."""
    return dist_info.name[: -len(".dist-info")].partition("-")[2]


def normalize_name(name: str) -> str:
    """Return a distribution name as PEP 503 compares them."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_same_release(version: str, other: str) -> bool:
    """Return whether two versions differ at most in the post-release (PEP 440), which a device package may have."""
    return _POST_RELEASE.sub("", version) == _POST_RELEASE.sub("", other)


def own_package(known: Distributions) -> InstalledPackage | None:
    """Return the package `rocm` itself, this code; None if it runs from its sources."""
    site = Path(__file__).parent.parent
    return find_in_site(PackageNames(OWN_DISTRIBUTION, __package__ or "", __package__ or ""), site, known)


def install(requirement: str, installer: str) -> str:
    """Return the command that installs a requirement with `pip` or `uv`."""
    return f'{_program(installer)} install "{requirement}"'


def reinstall(package: InstalledPackage) -> str:
    """Return the command that installs a package again, even if its metadata says that it is there."""
    option = "--reinstall" if package.installer == "uv" else "--force-reinstall"
    name = f"{package.names.distribution}=={package.version}"
    return f'{_program(package.installer)} install {option} --no-deps "{name}"'


def half_removed_remedy(names: PackageNames, known: Distributions) -> str:
    """Return what to say of a package without its files whose metadata is still beside this code; "" if it is not.

    Installers take it for installed, and `pip install` would do nothing.
    """
    package = find_in_site(names, Path(__file__).parent.parent, known)
    return (
        f"It is half removed: {package.dist_info} is still there. Reinstall it: {reinstall(package)}" if package else ""
    )


def uninstall(name: str, installer: str) -> str:
    """Return the command that removes a distribution without asking; uv never asks, and knows no `-y`."""
    return f"{_program(installer)} uninstall {name}" if installer == "uv" else f"pip uninstall -y {name}"


def _program(installer: str) -> str:
    return "uv pip" if installer == "uv" else "pip"
