"""Where the devel package and those it links to are installed, and whether they fit together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..distributions import Distributions, load_distributions
from ..errors import DevelError, DevelNotInstalledError
from ..installation import InstalledPackage, find_listed, find_site, is_same_release, list_dist_infos, normalize_name
from ..remedies import half_removed_remedy
from ..targets import selection_in_effect
from .glance import ARCHIVE_NAMES as ARCHIVE_NAMES
from .glance import LOCK_NAME, STATE_NAME
from .glance import ROOT_VARIABLE as ROOT_VARIABLE

JOURNAL_NAME = "_devel.journal"
CONTENT_NAME = ".rocm-sdk-content.json"


@dataclass(frozen=True)
class DevelLayout:
    """The devel package, and the packages of the same version beside it that the tree takes links from.

    `core` is None if it is not installed there. `runtime` has the packages that the archive's own links can point to,
    `targets` those whose every file is linked in (device packages, libraries per target), the preferred first. `home`
    is the directory that holds the tree: site-packages, or a directory with links to the packages' trees in the same
    places, so that relative paths are the same in both.
    """

    home: Path
    devel: InstalledPackage
    core: InstalledPackage | None
    runtime: tuple[InstalledPackage, ...]
    targets: tuple[InstalledPackage, ...]

    @property
    def site(self) -> Path:
        """The site-packages directory of all of them."""
        return self.devel.site

    @property
    def is_plain(self) -> bool:
        """Whether the wheel has the tree as ordinary files: there is nothing to make it of, and so no lock for it."""
        return not (self.glue / LOCK_NAME).is_file() and self.find_archive() is None

    @property
    def is_elsewhere(self) -> bool:
        """Whether the tree is outside of site-packages, and so not the business of those who uninstall packages."""
        return self.home != self.site

    @property
    def tree(self) -> str:
        """The name of the development tree in `home`."""
        return self.devel.names.tree

    @property
    def root(self) -> Path:
        """The development tree."""
        return self.home / self.tree

    @property
    def widest_mode(self) -> int:
        """The permission bits that the tree may have, before the umask: elsewhere its owner alone may write to it."""
        return 0o755 if self.is_elsewhere else 0o777

    @property
    def siblings(self) -> list[str]:
        """The names of the trees of all installed packages that the development tree links to."""
        return sorted({package.names.tree for package in (*self.runtime, *self.targets)} - {self.tree})

    @property
    def glue(self) -> Path:
        """The directory of the devel package's Python code, with the archive."""
        return self.site / self.devel.names.import_name

    @property
    def record(self) -> Path:
        """The RECORD that lists the tree: the package's own, which uninstalling follows, or one beside the tree."""
        return self.home / "RECORD" if self.is_elsewhere else self.devel.record

    @property
    def lock_file(self) -> Path:
        """The file whose lock guards the tree; it ships in the wheel, so that RECORD has it from the start."""
        return (self.home if self.is_elsewhere else self.glue) / LOCK_NAME

    @property
    def journal(self) -> Path:
        """The empty file through which others are replaced; it ships in the wheel as well."""
        return (self.home if self.is_elsewhere else self.glue) / JOURNAL_NAME

    @property
    def user_files(self) -> Path:
        """Where files of the user are while the tree is made anew."""
        return self.home / f"{self.tree}.kept"

    @property
    def state_file(self) -> Path:
        """Says that the tree is whole and from what it was made; absent otherwise."""
        return self.root / STATE_NAME

    @property
    def content_file(self) -> Path:
        """Lists what the tree holds."""
        return self.root / CONTENT_NAME

    def find_archive(self) -> Path | None:
        """Return the archive; None if there is none, which is fine once the tree is made."""
        return next((self.glue / name for name in ARCHIVE_NAMES if (self.glue / name).is_file()), None)

    def require_archive(self) -> Path:
        """Return the archive; raises DevelError if there is none."""
        archive = self.find_archive()
        if archive is not None:
            return archive
        raise DevelError(
            f"{self.glue} has neither {' nor '.join(ARCHIVE_NAMES)}, so the development tree cannot be made. Reinstall "
            f"it: pip install --force-reinstall --no-deps {self.devel.names.distribution}=={self.devel.version}"
        )

    def check(self) -> None:
        """Raise DevelError unless core is there, in the same version, and RECORD to list a tree in that is made."""
        if not (self.is_plain or self.is_elsewhere or self.record.is_file()):
            raise DevelError(
                f"{self.devel.dist_info} has no RECORD, so another package manager than pip owns {self.site}, where "
                f"the development tree would be made. Set {ROOT_VARIABLE} to a directory for it, or install the "
                "packages into a virtual environment."
            )
        names = load_distributions().packages["core"]
        wanted = f"{names.distribution}=={self.devel.version}"
        if self.core is None or not self.core.tree.is_dir():
            raise DevelError(
                f"{self.devel.names.distribution} links to files of {names.distribution}, which is not installed in "
                f"{self.site}. Install both into the same environment: pip install {wanted}"
            )
        if self.core.version != self.devel.version:
            raise DevelError(
                f"{self.devel.names.distribution} {self.devel.version} needs {wanted}, but {self.core.version} is "
                f"installed in {self.site}. Install the same version of both: pip install {wanted}"
            )


def find_layout(distributions: Distributions | None = None) -> DevelLayout:
    """Return where things are now; raises DevelNotInstalledError without the devel package."""
    known = distributions or load_distributions()
    names = known.packages["devel"]
    site = find_site(names.import_name)
    dist_infos = list_dist_infos(site, known) if site else {}
    devel = find_listed(names, site, dist_infos) if site else None
    if site is None or devel is None:
        where = f"{names.distribution} has no metadata in {site}" if site else f"{names.distribution} is not installed"
        remedy = half_removed_remedy(names, known) or f'Install it: pip install "rocm[devel]=={known.version}"'
        raise DevelNotInstalledError(f"{where}. {remedy}")
    beside = [find_listed(other, site, dist_infos) for other in known.packages.values() if not other.is_per_target]
    per_target = known.target_packages()
    order = known.by_preference(selection_in_effect(known))
    targets = [find_listed(per_target[target], site, dist_infos) for target in order]
    layout = DevelLayout(
        site,
        devel,
        find_listed(known.packages["core"], site, dist_infos),
        tuple(package for package in beside if package and package.version == devel.version),
        tuple(package for package in targets if package and is_same_release(package.version, devel.version)),
    )
    return layout if layout.is_plain else replace(layout, home=find_home(devel, os.environ))


def distribution_names() -> list[str]:
    """Return the names of all distributions of the build, as PEP 503 compares them."""
    known = load_distributions()
    packages = [*known.packages.values(), *known.target_packages().values()]
    return sorted({normalize_name(names.distribution) for names in packages if not names.is_per_target})


def find_home(devel: InstalledPackage, environment: Mapping[str, str]) -> Path:
    """Return the directory for the tree: site-packages, or one below that which ROCM_SDK_DEVEL_ROOT names.

    There, each version in each environment has one of its own, so that none changes another's.
    """
    chosen = environment.get(ROOT_VARIABLE, "")
    if not chosen:
        return devel.site
    from hashlib import sha256  # Only here: importing it takes milliseconds.

    place = sha256(os.fsencode(os.path.realpath(devel.site))).hexdigest()[:16]
    return Path(os.path.abspath(chosen)) / f"{devel.names.import_name}-{devel.version}-{place}"  # noqa: PTH100
