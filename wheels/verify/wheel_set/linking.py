"""Checks that the loader finds what every program and library needs, in the right version, when packages are installed.

Each file is loaded by itself, with the package that brings it and all that this requires: so any library can be opened
first. What only the whole set has, or only a library's users bring with them, is said apart. Libraries that may be
opened at run time by their name (dlopen(3)) are constants of programs; nobody can tell with which directory put before
the name, so it is enough that the set has a file of that name anywhere.
"""

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from lib.common.program import ToolError, named
from lib.elf.platforms import SYSTEM_LIBRARIES
from lib.wheel.platform_policy import promises
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.closure import closure
from wheels.verify.wheel_set.loader import Installation, Loader, Missing, install
from wheels.verify.wheel_set.model import Linked, Package

#: What every system of musl has (PEP 656), under the names that Alpine and musl itself give it.
MUSL_LIBRARIES: Final = ("ld-musl-*.so.1", "libc.musl-*.so.1", "libc.so")


def system_names(package: Package, settings: Settings) -> Callable[[str], bool]:
    """Return a function that says whether a library is there wherever the package is installed, by the library's name.

    It knows what every system has, the libraries that the settings name, those that the package's metadata requires of
    the system, and those that the package's tag may count on (PEP 600).
    """
    platforms = sorted({tag.platform for tag in package.tags})
    # A plain `linux` is of either. A library must be on the systems of all tags.
    systems = {"musl" if "musllinux" in one else "glibc" if "manylinux" in one else "any" for one in platforms}
    by_system = {"musl": MUSL_LIBRARIES, "glibc": SYSTEM_LIBRARIES, "any": (*SYSTEM_LIBRARIES, *MUSL_LIBRARIES)}
    runtimes = [by_system[one] for one in sorted(systems or {"any"})]
    policies = []
    for platform in platforms:
        try:
            policies += [promise.policy for promise in promises(platform) if promise.policy is not None]
        except ToolError:
            continue  # Of another system than glibc's.
    return lambda name: (
        name in package.external
        or any(fnmatchcase(name, pattern) for pattern in settings.system_libraries)
        or all(any(fnmatchcase(name, pattern) for pattern in patterns) for patterns in runtimes)
        or (bool(policies) and all(policy.has_library(name) for policy in policies))
    )


MISSING = Rule(
    "S101",
    "a needed library is nowhere in the set",
    why="The loader stops at the first library (DT_NEEDED) that it does not find: every program that loads this "
    "file fails.",
    remedy="Add the library to a package, or RPATH entries that lead to it. If users must have it, declare it: in "
    "externals of sdk_wheel, else in system_libraries.",
)
NOT_REQUIRED = Rule(
    "S102",
    "a needed library is only in a package that is not required",
    why="Where that package is not installed, the loader does not find the library.",
    remedy="Require the package that has the library, or move one of the two files.",
)
ONLY_THROUGH_LOADER = Rule(
    "S103",
    "a needed library is found only through the RPATH of the file's users",
    severity=Severity.WARNING,
    why="By itself the file cannot be loaded: only its users have the RPATH entries that lead to the library.",
    remedy="Give the file RPATH entries of its own that lead to the library.",
)
VERSION = Rule(
    "S111",
    "the library that is loaded lacks a symbol version",
    why="The loader stops: `version … not found`. The file was linked against another version of the library.",
    remedy="Ship the library that the file was built with, or build the file against the library that ships.",
)
NOT_THERE = Rule(
    "S141",
    "a library that may be opened at run time is nowhere in the set",
    severity=Severity.WARNING,
    why="A program that opens it by this name fails, works without it, or loads another one from the machine.",
    remedy="Ship the library under this name, or say in opened_libraries why it need not be there.",
)


def check_linking(
    packages: Sequence[Package], names: Mapping[str, Sequence[Package]], settings: Settings
) -> Iterator[Finding]:
    """Check all packages. `names` has them by name."""
    whole = install(packages)
    carried = _Carried(whole, whole.loader(lambda name: False))
    preloaded = _preloaded(whole, settings)
    for package in packages:
        system = system_names(package, settings)
        whole_loader = whole.loader(system)
        alone = install(closure(package, names)) if package.devel is None else whole
        alone_loader = alone.loader(system) if alone is not whole else whole_loader
        for path, linked in sorted(_own(package).items()):
            installation, loader = (whole, whole_loader) if _leads_out(linked) else (alone, alone_loader)
            loading = loader.load(path)
            served = {one.name: preloaded.get((one.name, linked.machine)) for one in loading.missing}
            for missing in loading.missing:
                if missing.object == path and served[missing.name] is None:
                    yield _missing(package, missing, whole, whole_loader, carried)
            for name in linked.needed:
                taken = loading.found.get((path, name)) or served.get(name)
                if taken is not None:
                    provider = installation.linked.get(taken) or whole.linked[taken]
                    yield from _versions(package, linked, name, provider)


def _preloaded(whole: Installation, settings: Settings) -> dict[tuple[str, int], str]:
    """Return the preloaded libraries, by SONAME and machine: when another file needs them, they are in the process."""
    found: dict[tuple[str, int], str] = {}
    for path, linked in sorted(whole.linked.items()):
        name = linked.soname or ""
        if any(fnmatchcase(name, pattern) for pattern in settings.preloaded_libraries):
            found.setdefault((name, linked.machine), path)
    return found


def _leads_out(linked: Linked) -> bool:
    """Whether this is a forwarder to a library of another tree. Like a link, it only works beside that package."""
    return linked.is_forwarder and any("/" in name for name in linked.needed)


def _own(package: Package) -> dict[str, Linked]:
    """Return the programs and libraries of a package, including its development tree."""
    return {**package.linked, **(package.devel.linked if package.devel else {})}


class _Carried:
    """Knows which libraries a file finds only through its users; computed when it is asked for first."""

    def __init__(self, whole: Installation, loader: Loader) -> None:
        self._whole = whole
        self._loader = loader
        self._found: dict[tuple[str, str], str] | None = None

    def user_of(self, path: str, name: str) -> str | None:
        """Return a file that loads `path` and thereby lets it find the library `name`."""
        if self._found is None:
            self._found = {}
            for root in sorted(self._whole.linked):
                for needed in self._loader.load(root).found:
                    self._found.setdefault(needed, root)
        return self._found.get((path, name))


def _missing(package: Package, missing: Missing, whole: Installation, loader: Loader, carried: _Carried) -> Finding:
    """Return the finding for a missing library; the rule depends on where the set has the library, if anywhere."""
    path, name = missing.object, missing.name
    tried = f"looked in {named(missing.tried)}" if missing.tried else "there is no RPATH entry to look in"
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
    """List the files of that name, which the loader does not look at; empty if the set has none."""
    paths = sorted(path for path in whole.linked if path.rpartition("/")[2] == name)
    return f"; the set has it as {', '.join(paths)}" if paths else ""


def _versions(package: Package, linked: Linked, name: str, provider: Linked) -> Iterator[Finding]:
    """Report the versions that a file needs and the library does not define (LSB Core, "Startup Sequence")."""
    # The loader binds whatever has the name in a library without any versions.
    wanted = linked.requires.get(name, ()) if provider.provides else ()
    for version in sorted(set(wanted) - provider.provides):
        has = ", ".join(sorted(one for one in provider.provides if one != provider.soname))
        evidence = f"wants {version} of {name}, and {provider.path} has {has}"
        yield VERSION.finding(package.filename, linked.path, evidence)


def check_opening(packages: Sequence[Package], settings: Settings) -> Iterator[Finding]:
    """Report names of missing libraries in all programs and libraries, each name once per package."""
    there = {posixpath.basename(path) for package in packages for path in package.files}
    there |= {linked.soname for package in packages for linked in package.linked.values() if linked.soname}
    for package in packages:
        system = system_names(package, settings)
        having: dict[str, list[str]] = {}
        for path, linked in sorted(package.linked.items()):
            for name in linked.opens:
                declared = any(fnmatchcase(name, pattern) for pattern in settings.opened_libraries)
                if name not in there and not system(name) and not declared:
                    having.setdefault(name, []).append(path)
        for name, paths in sorted(having.items()):
            more = f", and so have {len(paths) - 1} more files" if len(paths) > 1 else ""
            yield NOT_THERE.finding(package.filename, paths[0], f"has the string {name}{more}")
