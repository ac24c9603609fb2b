"""Checks that Windows finds the DLLs that every program and library imports, and in them the functions.

Each file is looked at with the package that brings it and all that this requires. What Windows itself and the
interpreter have is there, and what the metadata (Requires-External) or the setting `system_libraries` names.
`wheels.verify.wheel_set.importing` says where a DLL is looked for. `wheels.verify.wheel_set.linking` checks ELF files.
"""

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from lib.common.program import named
from lib.pe.constants import DLL_DIRECTORIES
from lib.pe.model import PeImage
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.closure import closure
from wheels.verify.wheel_set.loader import expand
from wheels.verify.wheel_set.model import DevelTree, Package
from wheels.verify.windows import is_redistributable, is_system

_DLL_SUFFIXES: Final = (".dll", ".pyd", ".exe", ".drv", ".ocx")


class Dlls:
    """The DLLs and EXEs of packages that are installed together."""

    def __init__(self, packages: Iterable[Package]) -> None:
        self.images: dict[str, PeImage] = {}
        """By path; of several packages with one path, the first's."""
        self.owners: dict[str, Package] = {}
        """The same, of all files that can be DLLs by their names, whatever they hold."""
        self.paths: set[str] = set()
        """All files in site-packages."""
        self.hashes: dict[str, str] = {}
        """SHA-256 of these."""
        self._by_name: dict[str, list[str]] = {}
        self._exports: dict[str, frozenset[str | int]] = {}
        for package in packages:
            self.paths.update(package.files)
            for path, facts in (*package.files.items(), *package.elsewhere.items()):
                name = posixpath.basename(path).lower()
                if (facts.pe is not None or name.endswith(_DLL_SUFFIXES)) and path not in self.owners:
                    self.owners[path] = package
                    self.hashes[path] = facts.sha256
                    self._by_name.setdefault(name, []).append(path)
                    if facts.pe is not None:
                        self.images[path] = facts.pe

    def find(self, path: str, name: str) -> str | None:
        """Return the DLL of that name that the image at `path` gets; None if there is none for its CPU."""
        machine, own, owner = self.images[path].machine, posixpath.dirname(path), self.owners[path].name
        fitting = [
            one
            for one in self._by_name.get(name.lower(), ())
            if one not in self.images or self.images[one].machine == machine or self.images[one].is_managed
        ]
        return min(
            fitting, key=lambda one: (not is_beside(one, own), self.owners[one].name != owner, one), default=None
        )

    def named(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield each name of a DLL with the paths that have it, sorted by name."""
        for name, paths in sorted(self._by_name.items()):
            if name.endswith(".dll"):
                yield name, [path for path in paths if path in self.images]

    def exports(self, path: str) -> frozenset[str | int]:
        """Return the names and ordinals that a DLL exports."""
        if path not in self._exports:
            symbols = self.images[path].exports
            both = (either for one in symbols for either in (one.name, one.ordinal))
            self._exports[path] = frozenset(one for one in both if one is not None)
        return self._exports[path]


def is_beside(path: str, directory: str) -> bool:
    """Whether a file lies in a directory: names of those have no case either."""
    return posixpath.dirname(path).lower() == directory.lower()


MISSING = Rule(
    "S171",
    "a needed DLL is nowhere in the set",
    why="Windows stops at the first DLL that it does not find: whatever loads this file fails.",
    remedy="Add the DLL to a package. If users must have it, declare it: in externals of sdk_wheel, else in "
    "system_libraries.",
)
NOT_REQUIRED = Rule(
    "S172",
    "a needed DLL is only in a package that is not required",
    why="Where that package is not installed, Windows does not find the DLL.",
    remedy="Require the package that has the DLL, or move one of the two files.",
)
REDISTRIBUTABLE = Rule(
    "S173",
    "needs a runtime of Microsoft's that not every Windows has",
    severity=Severity.WARNING,
    why="It comes with the Visual C++ redistributable package; where nobody installed that, the file does not load.",
    remedy="Ship the DLL beside the file (delvewheel does), or tell users, and declare it as S171 says.",
)
LATE = Rule(
    "S174",
    "a DLL that is needed later is nowhere in the set",
    severity=Severity.WARNING,
    why="The file loads. Its first call of such a function ends the process, unless it looks for the DLL before.",
    remedy="Add the DLL to a package, or declare it as S171 says.",
)
ELSEWHERE = Rule(
    "S175",
    "a needed DLL lies where Windows does not look for it",
    severity=Severity.WARNING,
    why="A program gets the DLLs beside it, Windows' own and those on PATH. The libraries of a selector get those "
    "beside them and in bin/ of the trees of core and libraries.",
    remedy="Put both into one directory, or start the program with the DLL's directory on PATH.",
)
SYMBOL = Rule(
    "S176",
    "the DLL that is loaded lacks a function",
    why="Windows stops: `The procedure entry point could not be located`. The file was linked with another DLL.",
    remedy="Ship the DLL that the file was built with, or build the file with the DLL that ships.",
)
#: Roles of the packages whose DLLs the selector's runtime finds.
_SEARCHED: Final = ("core", "libraries")


def is_there(package: Package, settings: Settings) -> Callable[[str], bool]:
    """Return what tells the names of DLLs that there are wherever a package is installed."""
    external = [name.lower() for name in (*package.external, *settings.system_libraries)]
    return lambda name: is_system(name) or any(fnmatchcase(name, pattern) for pattern in external)


def check_importing(
    packages: Sequence[Package], names: Mapping[str, Sequence[Package]], settings: Settings
) -> Iterator[Finding]:
    """Check all packages of a set for Windows; `names` has them by name."""
    whole = Dlls(packages)
    for package in packages:
        alone = Dlls(closure(package, names))
        there, directories = is_there(package, settings), _searched(package, packages)
        runtimes: dict[str, list[str]] = {}
        tree = package.devel.files if package.devel else {}
        files = {**{path: one for path, one in package.files.items() if path not in tree}, **package.elsewhere}
        for path, image in ((path, facts.pe) for path, facts in files.items() if facts.pe):
            for name in sorted({*image.libraries, *image.delayed_libraries}):
                found = alone.find(path, name)
                if there(name):
                    continue
                if found is None and is_redistributable(name):
                    runtimes.setdefault(name, []).append(path)
                elif found is None:
                    yield _missing(package, path, name, whole)
                elif image.is_dll and directories and not _reached(path, found, directories):
                    yield ELSEWHERE.finding(package.filename, path, f"needs {name}, which is {found}")
            if not image.is_dll:
                yield from _beside(package, path, alone)
            yield from _symbols(package, path, alone, there)
        for name, paths in sorted(runtimes.items()):
            more = f", and so do {len(paths) - 1} more files" if len(paths) > 1 else ""
            yield REDISTRIBUTABLE.finding(package.filename, paths[0], f"needs {name}{more}")
        if package.devel and not package.devel.damage:
            yield from _devel(package, package.devel, expand(package.devel, whole.paths, packages)[0], there)


def _devel(
    package: Package, devel: DevelTree, made: Collection[str], there: Callable[[str], bool]
) -> Iterator[Finding]:
    """Check the DLLs and programs that the development tree alone has; `made` are all files of the unpacked tree."""
    places = {path.lower() for path in made}
    names = {posixpath.basename(path) for path in places}
    for path, image in sorted(devel.images.items()):
        for name in image.libraries:
            if there(name) or is_redistributable(name):
                continue
            if name not in names:
                yield MISSING.finding(package.filename, devel.archive, f"{path} needs {name}")
            elif not image.is_dll and posixpath.join(posixpath.dirname(path).lower(), name) not in places:
                yield ELSEWHERE.finding(package.filename, devel.archive, f"{path} needs {name}, which is not beside it")


def _searched(package: Package, packages: Sequence[Package]) -> list[str]:
    """Return the directories whose DLLs the runtime of a selector finds; none if none selects the package."""
    tops = {path.partition("/")[0] for one in packages for path in one.files}
    own = {path.partition("/")[0] for path in package.files}
    for selector in (one.selector for one in packages if one.selector):
        if any(_is_tree(top, names.tree) for top in own for names in selector.packages.values()):
            trees = [names.tree for role, names in selector.packages.items() if role in _SEARCHED]
            found = (top for top in sorted(tops) if any(_is_tree(top, tree) for tree in trees))
            return [f"{top}/{directory}" for top in found for directory in DLL_DIRECTORIES]
    return []


def _is_tree(top: str, tree: str) -> bool:
    """Whether a directory is a package's tree, by a name that may have a placeholder for the target at its end."""
    prefix, placeholder, _ = tree.partition("{")
    return top.startswith(prefix) if placeholder else top == tree


def _reached(path: str, found: str, directories: Collection[str]) -> bool:
    return any(is_beside(found, directory) for directory in (posixpath.dirname(path), *directories))


def _missing(package: Package, path: str, name: str, whole: Dlls) -> Finding:
    """Say how bad it is that no package that is installed with a file has a DLL."""
    image = whole.images[path]
    late = "" if name in image.libraries else " when it is first called"
    elsewhere = whole.find(path, name)
    if elsewhere is not None:
        owner = whole.owners[elsewhere].name
        evidence = f"needs {name}{late}, which is {elsewhere} of {owner}, and {package.name} does not require {owner}"
        return (LATE if late else NOT_REQUIRED).finding(package.filename, path, evidence)
    return (LATE if late else MISSING).finding(package.filename, path, f"needs {name}{late}")


def _beside(package: Package, program: str, alone: Dlls) -> Iterator[Finding]:
    """Look whether all DLLs of a program lie beside it, with those that these need."""
    own = posixpath.dirname(program)
    queue, seen = [program], {program}
    while queue:
        path = queue.pop()
        for name in alone.images[path].libraries if path in alone.images else ():
            found = alone.find(path, name)
            if found is None or found in seen:
                continue
            seen.add(found)
            if is_beside(found, own):
                queue.append(found)
            else:
                by = "" if path == program else f" of {posixpath.basename(path)} beside it"
                yield ELSEWHERE.finding(package.filename, program, f"needs{by} {name}, which is {found}")


def _symbols(package: Package, path: str, alone: Dlls, there: Callable[[str], bool]) -> Iterator[Finding]:
    """Compare what a file imports with what the DLLs export."""
    wanted: dict[str, set[str | int]] = {}
    for one in alone.images[path].imports:
        either = (symbol.name if symbol.name is not None else symbol.ordinal for symbol in one.symbols)
        wanted.setdefault(one.library.lower(), set()).update(symbol for symbol in either if symbol is not None)
    for name, symbols in sorted(wanted.items()):
        found = None if there(name) else alone.find(path, name)
        lacking = sorted(symbols - alone.exports(found), key=str) if found is not None and found in alone.images else []
        if lacking:
            said = named([one if isinstance(one, str) else f"ordinal {one}" for one in lacking])
            yield SYMBOL.finding(package.filename, path, f"imports {said} of {name}, and {found} lacks that")
