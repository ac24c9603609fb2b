"""Checks that the loader finds what every program and library needs, in the right version, when packages are installed.

Each file is loaded by itself, with the package that brings it and all that this requires: so any library can be opened
first. What only the whole set has, or only a library's users bring with them, is said apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from verify.finding import Finding, Rule, Severity
from verify.over_set.closure import closure
from verify.over_set.installation import Installation, install
from verify.over_set.loader import Loader, Missing
from verify.over_set.model import Linked, Package
from verify.over_set.system import system_names
from verify.settings import Settings

MISSING = Rule(
    "S101",
    Severity.ERROR,
    "a needed library is nowhere in the set",
    why="The loader stops at the first library (DT_NEEDED) that it does not find: whatever brings this file fails.",
    remedy="Add the library to a package, or RPATH entries that lead to it. If the system brings it, declare it in "
    "system_libraries.",
)
NOT_REQUIRED = Rule(
    "S102",
    Severity.ERROR,
    "a needed library is only in a package that is not required",
    why="Where that package is not installed, the loader does not find the library.",
    remedy="Require the package that has the library, or move one of the two files.",
)
ONLY_THROUGH_LOADER = Rule(
    "S103",
    Severity.WARNING,
    "a needed library is found only on behalf of those who load the file",
    why="By itself the file cannot be loaded: the RPATH entries that lead to the library are those of its users.",
    remedy="Give the file RPATH entries of its own that lead to the library.",
)
VERSION = Rule(
    "S111",
    Severity.ERROR,
    "a symbol version is missing from the library that is taken",
    why="The loader stops: `version … not found`. The file was linked against another version of the library.",
    remedy="Ship the library that the file was built with, or build the file against the one that ships.",
)
UNVERSIONED = Rule(
    "S112",
    Severity.WARNING,
    "symbol versions are wanted of a library that has none",
    why="The file was linked against another build of the library; the loader binds whatever has the name.",
    remedy="Ship the library that the file was built with.",
)
RULES: Final = (MISSING, NOT_REQUIRED, ONLY_THROUGH_LOADER, VERSION, UNVERSIONED)


def check_linking(
    packages: Sequence[Package], names: Mapping[str, Sequence[Package]], trees: Sequence[str], settings: Settings
) -> Iterator[Finding]:
    """Check all packages. `names` has them by name, `trees` are those that the development tree takes in."""
    whole = install(packages, trees)
    carried = _Carried(whole, whole.loader(lambda name: False))
    for package in packages:
        system = system_names(package, settings)
        whole_loader = whole.loader(system)
        is_devel = package.devel is not None
        installation = whole if is_devel else install(closure(package, names), trees)
        loader = whole_loader if is_devel else installation.loader(system)
        for path, linked in sorted(_own(package).items()):
            loading = loader.load(path)
            for missing in loading.missing:
                if missing.object == path:
                    yield _missing(package, missing, whole, whole_loader, carried)
            for name in linked.needed:
                taken = loading.found.get((path, name))
                if taken is not None:
                    yield from _versions(package, linked, name, installation.linked[taken])


def _own(package: Package) -> dict[str, Linked]:
    """Return the programs and libraries of a package, those of its development archive included."""
    return {**package.linked, **(package.devel.linked if package.devel else {})}


class _Carried:
    """What is found on behalf of users: worked out once, when it is asked for first."""

    def __init__(self, whole: Installation, loader: Loader) -> None:
        self._whole = whole
        self._loader = loader
        self._found: dict[tuple[str, str], str] | None = None

    def user_of(self, path: str, name: str) -> str | None:
        """Return a file that, when it is loaded, brings `path` and lets it find the library `name`."""
        if self._found is None:
            self._found = {}
            for root in sorted(self._whole.linked):
                for needed in self._loader.load(root).found:
                    self._found.setdefault(needed, root)
        return self._found.get((path, name))


def _missing(package: Package, missing: Missing, whole: Installation, loader: Loader, carried: _Carried) -> Finding:
    """Say how bad it is that a library is missing."""
    path, name = missing.object, missing.name
    tried = f"looked in {', '.join(missing.tried)}" if missing.tried else "there is no RPATH entry to look in"
    taken = loader.load(path).found.get((path, name))
    if taken is not None:
        owner = whole.owners[taken].name
        evidence = f"needs {name}, which is {taken} of {owner}, and {package.name} does not require {owner}"
        return NOT_REQUIRED.finding(package.filename, path, evidence)
    user = carried.user_of(path, name)
    if user is not None:
        return ONLY_THROUGH_LOADER.finding(
            package.filename, path, f"needs {name}; {tried}; found when {user} is loaded"
        )
    return MISSING.finding(package.filename, path, f"needs {name}; {tried}{_elsewhere(name, whole)}")


def _elsewhere(name: str, whole: Installation) -> str:
    """Say where files of that name are that the loader does not come to."""
    paths = sorted(path for path in whole.linked if path.rpartition("/")[2] == name)
    return f"; the set has it as {', '.join(paths)}" if paths else ""


def _versions(package: Package, linked: Linked, name: str, provider: Linked) -> Iterator[Finding]:
    """Compare the versions that a file wants of a library with those that it has (LSB Core, "Startup Sequence")."""
    wanted = linked.requires.get(name, ())
    if wanted and not provider.provides:
        evidence = f"wants {', '.join(sorted(wanted))} of {name}, and {provider.path} defines no versions"
        yield UNVERSIONED.finding(package.filename, linked.path, evidence)
        return
    for version in sorted(set(wanted) - provider.provides):
        has = ", ".join(sorted(one for one in provider.provides if one != provider.soname))
        evidence = f"wants {version} of {name}, and {provider.path} has {has}"
        yield VERSION.finding(package.filename, linked.path, evidence)
