"""Where the packages of this build are installed.

A package is found by its glue package (`rocm_sdk_core`), as Python itself would find it; its tree (`_rocm_sdk_core`)
and its metadata lie in the same site-packages directory. So with several such directories on `sys.path` the files
always belong to the code that runs. Reading directory names is enough: `importlib.metadata` is slow to import.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from .distributions import Distributions, PackageNames, load_distributions

OWN_DISTRIBUTION = "rocm"


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

    @property
    def version(self) -> str:
        """The installed version, as the name of the metadata directory spells it."""
        return self.dist_info.name[: -len(".dist-info")].partition("-")[2]


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


def list_dist_infos(site: Path, known: Distributions) -> dict[str, Path]:
    """Return the metadata directories with a RECORD in `site`, by normalized distribution name.

    Of several of one name that of this build's version counts. If the build has a version suffix, so that packages of
    other versions can lie there with trees of their own, these are none of its business.
    """
    found = {}
    own_ending = f"-{known.version}.dist-info"
    for path in sorted(site.glob("*.dist-info"), key=lambda path: (path.name.endswith(own_ending), path)):
        is_of_this_build = path.name.endswith(own_ending) or not known.version_suffix
        if is_of_this_build and (path / "RECORD").is_file():
            found[normalize_name(path.name.partition("-")[0])] = path
    return found


def normalize_name(name: str) -> str:
    """Return a distribution name as PEP 503 compares them."""
    return re.sub(r"[-_.]+", "-", name).lower()


def own_package(known: Distributions) -> InstalledPackage | None:
    """Return the package `rocm` itself, this code; None if it runs from its sources."""
    site = Path(__file__).parent.parent
    return find_in_site(PackageNames(OWN_DISTRIBUTION, __package__ or "", __package__ or ""), site, known)
