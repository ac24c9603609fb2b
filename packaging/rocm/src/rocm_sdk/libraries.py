"""Finding the shared libraries of the packages by short name.

`library_table` is the public list; here it is looked up in what is installed. `process` loads what is found here.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path

from .distributions import Distributions, PackageNames, load_distributions, load_selection
from .library_table import DLL_DIRECTORIES, LIBRARIES, LIBRARY_DIRECTORIES, Library, version_key
from .system import IS_WINDOWS
from .targets import selection_in_effect


def listed_libraries() -> Mapping[str, Library]:
    """Return the libraries by short name, also those that programs have registered: they add lines to `_dist_info`."""
    from . import _dist_info  # noqa: F401

    return LIBRARIES


def find_libraries(*shortnames: str) -> list[Path]:
    """Return the absolute paths of the libraries, in the order asked for; optional ones may be left out.

    On Windows, libraries that there are for Linux alone are left out, too.

    Raises what `find_by_name` raises.
    """
    return [path for _, path in find_by_name(*shortnames)]


def find_by_name(*shortnames: str) -> list[tuple[str, Path]]:
    """Return the short names and absolute paths of the libraries, in the order asked for, without absent optional ones.

    Raises ModuleNotFoundError if a name is unknown or a package is not installed (it names each missing package and
    the command that installs it), FileNotFoundError if an installed package does not have the library.
    """
    unknown = [name for name in shortnames if name not in LIBRARIES and name not in listed_libraries()]
    if unknown:
        raise ModuleNotFoundError(f"unknown ROCm library {', '.join(unknown)}; known: {', '.join(sorted(LIBRARIES))}")
    distributions = load_distributions()
    roles = sorted({LIBRARIES[name].package for name in shortnames})
    not_built = [role for role in roles if role not in distributions.packages]
    if not_built:
        raise ModuleNotFoundError(f"rocm {distributions.version} was built without the package `{not_built[0]}`")
    trees = {role: find_tree(role, distributions) for role in roles}
    missing = [role for role, tree in trees.items() if tree is None]
    if missing:
        raise ModuleNotFoundError(_missing_message(missing, shortnames, distributions))
    found = [(name, tree) for name in shortnames for tree in [trees[LIBRARIES[name].package]] if tree]
    paths = [(name, _locate(name, tree)) for name, tree in found]
    return [(name, path) for name, path in paths if path is not None]


def find_tree(role: str, distributions: Distributions) -> Path | None:
    """Return the installed tree of a package; among several of a kind, the one of the target in effect.

    The tree is found as a Python package, which it is: its metadata may lack, as under rpm or in a frozen program.
    """
    for names in role_candidates(role, distributions):
        spec = importlib.util.find_spec(names.tree)
        if spec is not None and spec.origin:
            return Path(spec.origin).parent
    return None


def role_candidates(role: str, distributions: Distributions) -> list[PackageNames]:
    """Return the packages that can play a role, the one for the target in effect first; none if it was not built."""
    names = distributions.packages.get(role)
    if names is None:
        return []
    if not names.is_per_target:
        return [names]
    order = distributions.by_preference(selection_in_effect(distributions))
    return [names.for_target(target) for target in order]


def _locate(shortname: str, tree: Path) -> Path | None:
    library = LIBRARIES[shortname]
    if IS_WINDOWS and not library.on_windows:
        return None
    directories = [tree / below for below in (DLL_DIRECTORIES if IS_WINDOWS else (library.directory,))]
    found = [path for directory in directories for path in directory.glob(library.pattern)]
    named = [path for path in found if library.is_named(path.name)]
    matches = sorted(named, key=lambda path: (version_key(path.name), path.name))
    if matches:
        # The file named like the SONAME is the library itself, the unversioned name beside it only leads there.
        return matches[-1]
    if library.optional:
        return None
    dll = f"is named {library.stem[3:]}.dll, with or without `lib` before it and a version"
    wanted = dll if IS_WINDOWS and library.stem else f"matches {library.pattern}"
    places = " or ".join(map(str, directories))
    raise FileNotFoundError(
        f"no library {shortname!r}: nothing in {places} {wanted}. Reinstall the package with that "
        "directory if it should have it."
    )


def library_directories(distributions: Distributions) -> list[Path]:
    """Return the directories in the installed trees of core and libraries that hold libraries, in search order."""
    trees = [find_tree(role, distributions) for role in ("core", "libraries")]
    found = [tree / below for tree in trees if tree for below in LIBRARY_DIRECTORIES]
    return [directory for directory in found if directory.is_dir()]


def _missing_message(roles: Sequence[str], shortnames: Sequence[str], distributions: Distributions) -> str:
    """Say which package each library is missing from, and the one command that installs them all."""
    parts = []
    for role in roles:
        names = ", ".join(name for name in shortnames if LIBRARIES[name].package == role)
        parts.append(f"{names}: not installed: {_distribution(role, distributions)}=={distributions.version}")
    from .installation import half_removed_remedy

    found = {role: half_removed_remedy(role_candidates(role, distributions)[0], distributions) for role in roles}
    remedies = list(filter(None, found.values()))
    absent = [role for role in roles if not found[role]]
    remedies += [f"Install with: {install_command(absent, distributions)}"] if absent else []
    return f"{'; '.join(parts)}. {' '.join(remedies)}"


def install_command(roles: Sequence[str], distributions: Distributions) -> str:
    """Return the pip command that brings the packages of these roles; core comes with any of them."""
    extras = []
    for role in roles:
        # Only for the choice that was made at installation there is an extra without a target.
        chosen = load_selection() or {}
        first = role_candidates(role, distributions)[0]
        is_plain = first == distributions.packages[role].for_target(chosen.get("target", ""))
        target = first.distribution.rpartition(f"-{role}-")[2].lower()
        extras += [] if role == "core" else [role if is_plain else f"{role}-{target}"]
    listed = f"[{','.join(extras)}]" if extras else ""
    return f'pip install "rocm{listed}=={distributions.version}"'


def _distribution(role: str, distributions: Distributions) -> str:
    return role_candidates(role, distributions)[0].distribution
