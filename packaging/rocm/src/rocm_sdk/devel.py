"""ROCm's development tree: a whole prefix (`bin`, `include`, `lib`, `lib/cmake`) in site-packages.

The devel package has its files; `devel_tree`, which other SDKs ship as well, makes its links to the other packages'
files on first use. This module knows which packages these are, and what to say if they do not fit together.

Console scripts import it at each start, so it imports nothing that Python has not loaded.
"""

from __future__ import annotations

import os
import sys

from .devel_tree import DevelTree, glance, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from .distributions import Distributions
    from .installation import InstalledPackage

__all__ = ["devel_root", "find_layout", "root_at_a_glance"]

#: Links that AMD's packages have as symbolic ones.
_SYMBOLIC = ("amdclang", "amdclang++", "amdclang-cl", "amdclang-cpp", "amdflang", "amdlld", "amdllvm")


def devel_root(*, verify: bool = False) -> Path:
    """Return the root of the development tree, with all links; with `verify` each file is looked for.

    Raises DevelError, with the remedy in its text.
    """
    layout = find_layout()
    layout.check()
    layout.root_with_links(verify=verify)
    return layout.root


def root_at_a_glance() -> str | None:
    """Return the root of a tree whose links are as they have to be, "" without the devel package, None otherwise.

    `devel_root` then tells. This takes a millisecond; that takes forty, because of what has to be loaded.
    """
    own = os.path.dirname(__file__)
    try:
        with open(f"{own}/_distributions.json", encoding="utf-8") as stream:
            known = read_json(stream.read())
        package = _find_package(known["packages"]["devel"]["import"])
        if package is None:
            return ""
        if os.path.dirname(package) != os.path.dirname(own):
            return None
        return glance(package, known["version"]) or None
    except (AttributeError, KeyError, OSError, TypeError, ValueError):
        return None


def _find_package(name: str) -> str | None:
    """Return the directory of a package with an `__init__.py`, as `importlib.util.find_spec` finds it."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, None)
        if spec is not None:
            return os.path.dirname(spec.origin) if spec.origin else None
    return None


class DevelLayout:
    """The devel package, the core package beside it (None if it is not there), and the tree."""

    def __init__(self, devel: InstalledPackage, core: InstalledPackage | None, known: Distributions) -> None:
        from .targets import selection_in_effect

        self.devel, self.core, self.known = devel, core, known
        targets = known.target_packages()
        order = dict.fromkeys(targets[one].tree for one in known.by_preference(selection_in_effect(known)))
        self.tree = DevelTree(
            str(devel.site / devel.names.import_name),
            command="rocm-sdk init",
            tree=devel.names.tree,
            version=known.version,
            order=tuple(order),
            symbolic=_SYMBOLIC,
        )

    @property
    def root(self) -> Path:
        """The development tree."""
        return self.devel.tree

    @property
    def is_ready(self) -> bool:
        """Whether all links are there: nothing has to be made."""
        return bool(glance(self.tree.package, self.known.version, self.tree.order))

    def root_with_links(self, *, verify: bool = False) -> None:
        """Make what is missing. Raises DevelError."""
        from .devel_tree import DevelTreeError, ReadOnlyError
        from .errors import DevelError, DevelReadOnlyError

        try:
            self.tree.root(verify=verify)
        except ReadOnlyError as error:
            raise DevelReadOnlyError(str(error)) from error
        except DevelTreeError as error:
            raise DevelError(str(error)) from error

    def faults(self) -> list[str]:
        """Return what is wrong with the tree, each in a few words; nothing is changed. Raises DevelError."""
        from .devel_tree import DevelTreeError
        from .errors import DevelError

        try:
            return self.tree.faults()
        except DevelTreeError as error:
            raise DevelError(str(error)) from error

    def check(self) -> None:
        """Raise DevelError unless core and devel are beside each other, both in the version of this package."""
        from .errors import DevelError

        names, version = self.known.packages["core"], self.known.version
        wanted = f"{self.devel.names.distribution}=={version} {names.distribution}=={version}"
        if self.core is None or not self.core.tree.is_dir():
            raise DevelError(
                f"{self.devel.names.distribution} links to files of {names.distribution}, which is not installed in "
                f"{self.devel.site}. Install both into the same environment: pip install {wanted}"
            )
        for package in (self.devel, self.core):
            if package.version != version:
                raise DevelError(
                    f"{package.names.distribution} in {package.site} is {package.version}, and rocm is {version}; "
                    f"expected one version. Install it: pip install {wanted}"
                )


def find_layout(distributions: Distributions | None = None) -> DevelLayout:
    """Return where things are now; raises DevelNotInstalledError without the devel package."""
    from .distributions import load_distributions
    from .errors import DevelNotInstalledError
    from .installation import find_listed, find_site, half_removed_remedy, list_dist_infos

    known = distributions or load_distributions()
    names = known.packages["devel"]
    site = find_site(names.import_name)
    dist_infos = list_dist_infos(site, known) if site else {}
    devel = find_listed(names, site, dist_infos) if site else None
    if site is None or devel is None:
        where = f"{names.distribution} has no metadata in {site}" if site else f"{names.distribution} is not installed"
        remedy = half_removed_remedy(names, known) or f'Install it: pip install "rocm[devel]=={known.version}"'
        raise DevelNotInstalledError(f"{where}. {remedy}")
    return DevelLayout(devel, find_listed(known.packages["core"], site, dist_infos), known)
