"""Finding the shared libraries of the packages by short name.

`library_table` is the public list; here it is looked up in what is installed. `preload` loads what is found here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .distributions import Distributions, PackageNames, load_distributions, load_selection
from .installation import InstalledPackage, find_package
from .library_table import LIBRARIES, LIBRARY_DIRECTORIES, version_key


def find_libraries(*shortnames: str) -> list[Path]:
    """Return the absolute paths of the libraries, in the order asked for; optional ones may be left out.

    Raises ModuleNotFoundError if a name is unknown or a package is not installed (it names each missing package and
    the command that installs it), FileNotFoundError if an installed package does not have the library.
    """
    unknown = [name for name in shortnames if name not in LIBRARIES]
    if unknown:
        raise ModuleNotFoundError(f"unknown ROCm library {', '.join(unknown)}; known: {', '.join(sorted(LIBRARIES))}")
    distributions = load_distributions()
    roles = sorted({LIBRARIES[name].package for name in shortnames})
    not_built = [role for role in roles if role not in distributions.packages]
    if not_built:
        raise ModuleNotFoundError(f"rocm {distributions.version} was built without the package `{not_built[0]}`")
    packages = {role: find_role(role, distributions) for role in roles}
    missing = [role for role, package in packages.items() if package is None]
    if missing:
        raise ModuleNotFoundError(_missing_message(missing, shortnames, distributions))
    found = [(name, package) for name in shortnames for package in [packages[LIBRARIES[name].package]] if package]
    paths = [_locate(name, package) for name, package in found]
    return [path for path in paths if path is not None]


def find_role(role: str, distributions: Distributions) -> InstalledPackage | None:
    """Return the installed package of that role; among several of a kind, the one of the target chosen at install."""
    for names in role_candidates(role, distributions):
        package = find_package(names, distributions)
        if package is not None:
            return package
    return None


def role_candidates(role: str, distributions: Distributions) -> list[PackageNames]:
    """Return the packages that can play a role, the one for the chosen target first; none if it was not built."""
    names = distributions.packages.get(role)
    if names is None:
        return []
    if not names.is_per_target:
        return [names]
    return [names.for_target(target) for target in distributions.by_preference(load_selection())]


def _locate(shortname: str, package: InstalledPackage) -> Path | None:
    library = LIBRARIES[shortname]
    directory = package.tree / library.directory
    matches = sorted(directory.glob(library.pattern), key=lambda path: (version_key(path.name), path.name))
    if matches:
        # The file named like the SONAME is the library itself, the unversioned name beside it only leads there.
        return matches[-1]
    if library.optional:
        return None
    raise FileNotFoundError(
        f"{package.names.distribution} {package.version} has no library {shortname!r}: nothing in {directory} matches "
        f"{library.pattern}. Reinstall the package if it should have it."
    )


def library_directories(distributions: Distributions) -> list[Path]:
    """Return the directories in the installed trees of core and libraries that hold libraries, in search order."""
    packages = [find_role(role, distributions) for role in ("core", "libraries")]
    found = [package.tree / below for package in packages if package for below in LIBRARY_DIRECTORIES]
    return [directory for directory in found if directory.is_dir()]


def _missing_message(roles: Sequence[str], shortnames: Sequence[str], distributions: Distributions) -> str:
    """Say which package each library is missing from, and the one command that installs them all."""
    parts = []
    for role in roles:
        names = ", ".join(name for name in shortnames if LIBRARIES[name].package == role)
        parts.append(f"{names}: not installed: {_distribution(role, distributions)}=={distributions.version}")
    return f"{'; '.join(parts)}. Install with: {install_command(roles, distributions)}"


def install_command(roles: Sequence[str], distributions: Distributions) -> str:
    """Return the pip command that brings the packages of these roles; core comes with any of them."""
    extras = []
    for role in roles:
        # Without a choice, as after installing the static wheel, no extra stands for "the libraries of this machine".
        chosen = load_selection() is not None or not distributions.packages[role].is_per_target
        target = role_candidates(role, distributions)[0].distribution.rpartition(f"-{role}-")[2].lower()
        extras += [] if role == "core" else [role if chosen else f"{role}-{target}"]
    listed = f"[{','.join(extras)}]" if extras else ""
    return f'pip install "rocm{listed}=={distributions.version}"'


def _distribution(role: str, distributions: Distributions) -> str:
    return role_candidates(role, distributions)[0].distribution
