"""The CMake packages of an install prefix: their libraries, with what a program needs to use them.

    for package in read_packages(Path("prefix")):
        print(package.name, [library.name for library in package.libraries])

A package is a directory with `{name}Config.cmake` or `{name}-config.cmake` where `find_package` looks, and where ROCm
has the packages of its compiler. cmake_export.py says how they are read. A library whose file is not in the prefix is
left out, as are elements of its properties that only a run of CMake would tell; `notes` lists them.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.fetch.prefix.cmake_export import Export, read_export
from tools.fetch.prefix.cmake_syntax import CMakeError
from tools.fetch.prefix.cmake_targets import ImportedTarget
from tools.fetch.prefix.cmake_values import is_unknown, split_list
from tools.fetch.prefix.generator_expressions import evaluated
from tools.fetch.prefix.prefix_files import ROOT, PrefixFiles
from tools.fetch.prefix.shared_libraries import SharedLibraries

#: Directories that have packages, in `cmake/{name}` or `{name}/cmake`. Earlier ones go before later ones. The compiler
#: has its own directory, with packages for those who work on compilers.
_BASES: Final = ("lib", "lib64", "lib/*-linux-gnu", "share")
_CONFIG: Final = re.compile(r"(?P<name>.+?)(?P<end>Config|-config)\.cmake")
#: Options that only a compiler of HIP takes, as `hip::device` has them: no program of the host is linked with them.
DEVICE_OPTIONS: Final = ("--hip-link", "--offload-arch=", "-parallel-jobs", "--rtlib=", "-unwindlib=")
#: Libraries that the compiler brings; `Threads` is CMake's name for the options of POSIX threads.
_THREADS: Final = {"Threads::Threads": "-pthread"}


@dataclass(frozen=True)
class Library:
    """A library that a package offers. Paths are relative to the prefix."""

    #: As CMake calls it: `roc::rocblas`.
    name: str
    #: shared, static or interface.
    kind: str
    #: The file: of a shared library, that which is called by its SONAME, if there is one. Empty for an interface.
    location: str
    #: The name by which programs ask for it; empty if it is no shared library.
    soname: str
    include_directories: tuple[str, ...]
    defines: tuple[str, ...]
    #: Options for what includes its headers, in C++ on the host. Those for HIP sources alone are left out.
    compile_options: tuple[str, ...]
    #: Other imported targets that have to be linked with it: `hip::host`.
    libraries: tuple[str, ...]
    #: What else to give to the linker: `-ldl`, `-pthread`.
    link_options: tuple[str, ...]
    #: Headers that the package names.
    sources: tuple[str, ...] = ()
    #: Libraries of the prefix that have to be linked with it, and that it names by their paths.
    files: tuple[str, ...] = ()

    @property
    def is_for_device(self) -> bool:
        """Whether it is for programs that a compiler of HIP compiles."""
        options = (*self.compile_options, *self.link_options)
        return "hip" in self.compile_options or any(one.startswith(DEVICE_OPTIONS) for one in options)


@dataclass(frozen=True)
class Package:
    """A package, as `find_package(name)` finds it."""

    name: str
    version: str
    libraries: tuple[Library, ...]
    #: The packages that it asks for, by name, whether the prefix has them or not.
    dependencies: tuple[str, ...]
    #: What is left out, with the file and the line.
    notes: tuple[str, ...] = ()
    #: The libraries that are left out because their files are not in the prefix.
    absent: tuple[str, ...] = ()


def read_packages(prefix: Path) -> tuple[Package, ...]:
    """Read all packages of a prefix, sorted by name. Raises CMakeError if one of their files is damaged."""
    files = PrefixFiles(prefix)
    exports = {name: read_export(files, path, name) for name, path in sorted(configurations(prefix).items())}
    targets = {name for export in exports.values() for name in export.targets}
    reader = _LibraryReader(files, SharedLibraries(prefix), targets)
    return tuple(_package(name, export, reader) for name, export in exports.items())


def left_out(packages: Sequence[Package]) -> list[str]:
    """Return what packages name and targets lack: files, libraries of others, options of the compiler.

    A library for C++ hands on macros and directories of headers, and no other options.
    """
    libraries = [library for package in packages for library in package.libraries]
    known = {library.name for library in libraries}
    foreign = [(one.name, other) for one in libraries for other in one.libraries if other not in known]
    notes = [note for package in packages for note in package.notes]
    notes += [f"{name}: {other}, which it links with: no package of the prefix offers it" for name, other in foreign]
    return notes + [
        f"{one.name}: {' '.join(one.compile_options)}, with which its users are compiled: add this to their `copts`"
        for one in libraries
        if one.compile_options and not one.is_for_device
    ]


def require_libraries(prefix: Path, packages: Sequence[Package]) -> None:
    """Raise CMakeError if the prefix has the file of no library that its packages offer: its parts were moved."""
    absent = [f"{name} of {package.name}" for package in packages for name in package.absent]
    if absent and not any(library.location for package in packages for library in package.libraries):
        raise CMakeError(
            f"{prefix}: it has the file of no library that its CMake packages offer, such as {absent[0]}; expected the "
            "files where the packages name them. Install the SDK into this prefix, do not move its parts"
        )


def configurations(prefix: Path) -> dict[str, str]:
    """Return the file that each package begins with. Of several with one name, in whatever case, the first counts."""
    found: dict[str, tuple[str, str]] = {}
    for base in _BASES:
        for pattern in (f"{base}/cmake/*/*onfig.cmake", f"{base}/*/cmake/*onfig.cmake", f"{base}/cmake/*onfig.cmake"):
            for path in sorted(prefix.glob(pattern)):
                below = path.relative_to(prefix).as_posix()
                if name := _package_name(below):
                    found.setdefault(name.lower(), (name, f"{ROOT}/{below}"))
    return dict(found.values())


def _package_name(path: str) -> str | None:
    """Return the name of the package that a file begins, None for a part of a package in a directory of another name.

    `find_package(NAME)` looks in directories that begin with it, without regard to case.
    """
    match = _CONFIG.fullmatch(posixpath.basename(path))
    if not match or (match["end"] == "-config" and match["name"] != match["name"].lower()):
        return None
    parts = [part.lower() for part in path.split("/")[-3:-1]]
    directory = parts[0] if parts[1] == "cmake" and parts[0] not in ("lib", "lib64", "share") else parts[1]
    return match["name"] if directory.startswith(match["name"].lower()) or directory == "cmake" else None


def _package(name: str, export: Export, reader: "_LibraryReader") -> Package:
    notes = list(export.notes)
    libraries: list[Library] = []
    absent: list[str] = []
    for target in export.targets.values():
        if target.kind == "EXECUTABLE":
            continue  # Programs are found by their files.
        if library := reader.library(target, notes):
            libraries.append(library)
        else:
            absent.append(target.name)
    return Package(
        name,
        _version(name, export, reader.files),
        tuple(libraries),
        tuple(export.dependencies),
        tuple(dict.fromkeys(notes)),
        tuple(absent),
    )


def _version(name: str, export: Export, files: PrefixFiles) -> str:
    """Return the version that the file beside the configuration states; empty if there is none."""
    directory = posixpath.dirname(export.path)
    for version_file in (f"{name}-config-version.cmake", f"{name}ConfigVersion.cmake"):
        if files.exists(f"{directory}/{version_file}"):
            version = read_export(files, f"{directory}/{version_file}", name).variables.text("PACKAGE_VERSION")
            return "" if is_unknown(version) else version
    version = export.variables.text(f"{name}_VERSION")
    return "" if is_unknown(version) else version


class _LibraryReader:
    """Makes libraries from targets."""

    def __init__(self, files: PrefixFiles, shared: SharedLibraries, targets: set[str]) -> None:
        self.files = files
        self._shared = shared
        self._targets = targets

    def library(self, target: ImportedTarget, notes: list[str]) -> Library | None:
        """Return the library of a target; None, with a note, if its file is not in the prefix."""
        location, soname, kind = "", "", "interface"
        if target.kind not in ("INTERFACE", "ALIAS", "OBJECT"):
            if not (file := self.location(target, notes)):
                return None
            location = file
            kind = "static" if target.kind == "STATIC" or location.endswith(".a") else "shared"
        if kind == "shared":
            location, soname = self._shared.by_soname(location, target.configured("IMPORTED_SONAME"))
        linked = self._elements(target, "INTERFACE_LINK_LIBRARIES", notes)
        libraries = [one for one in linked if self._is_target(one) and one != target.name]
        others = [_THREADS.get(one) or _option(one) for one in linked if not self._is_target(one)]
        files = [self.files.below(one) for one in others if one.startswith(ROOT) and self.files.exists(one)]
        options = [one for one in others if not (one.startswith(ROOT) and self.files.exists(one))]
        options += _words(self._elements(target, "INTERFACE_LINK_OPTIONS", notes))
        defines = [one.removeprefix("-D") for one in self._elements(target, "INTERFACE_COMPILE_DEFINITIONS", notes)]
        return Library(
            target.name,
            kind,
            location,
            soname,
            tuple(self._paths(target, "INTERFACE_INCLUDE_DIRECTORIES", notes)),
            tuple(_distinct(self._without_paths(target, defines, notes))),
            tuple(
                self._without_paths(target, _words(self._elements(target, "INTERFACE_COMPILE_OPTIONS", notes)), notes)
            ),
            tuple(_distinct(libraries)),
            tuple(self._without_paths(target, options, notes)),
            tuple(self._paths(target, "INTERFACE_SOURCES", notes)),
            tuple(one for one in files if one),
        )

    def location(self, target: ImportedTarget, notes: list[str]) -> str | None:
        """Return the file of a target; None, with a note, if it is not in the prefix."""
        path = target.configured("IMPORTED_LOCATION")
        below = None if is_unknown(path) else self.files.below(path)
        if below and self.files.exists(path):
            return below
        shown = (below or path).replace("\0", "?")
        notes.append(f"{target.place}: {target.name}: its file is not in the prefix: {shown or 'it names none'}")
        return None

    def _is_target(self, name: str) -> bool:
        return name not in _THREADS and ("::" in name or name in self._targets)

    def _elements(self, target: ImportedTarget, name: str, notes: list[str]) -> list[str]:
        """Return the elements of a property, with notes of those that are unknown."""
        found: list[str] = []
        for element in split_list(target.properties.get(name, ""), expressions=True):
            try:
                value = evaluated(element)
            except CMakeError as error:
                raise CMakeError(f"{target.name}: {name}: {error.problem}", target.place) from None
            if is_unknown(value):
                notes.append(f"{target.place}: {target.name}: {name}: unknown: {element.replace(chr(0), '?')[:200]}")
            else:
                found += split_list(value)
        return found

    @staticmethod
    def _without_paths(target: ImportedTarget, options: Iterable[str], notes: list[str]) -> list[str]:
        """Return options, without those with a path: it is another one wherever the prefix is."""
        kept = []
        for option in options:
            if ROOT in option or option.startswith(("/", "-L/")):
                notes.append(
                    f"{target.place}: {target.name}: an option with a path: {option.replace(ROOT, '<prefix>')}"
                )
            else:
                kept.append(option)
        return kept

    def _paths(self, target: ImportedTarget, name: str, notes: list[str]) -> list[str]:
        """Return the paths of a property that the prefix has."""
        found = []
        for path in self._elements(target, name, notes):
            below = self.files.below(path)
            if below and self.files.exists(path):
                found.append(below)
            else:
                notes.append(f"{target.place}: {target.name}: {name}: not in the prefix: {below or path}")
        return _distinct(found)


def _option(name: str) -> str:
    """Return the linker's option for an element of INTERFACE_LINK_LIBRARIES that is no target."""
    return name if name.startswith("-") or "/" in name else f"-l{name}"


def _words(options: Iterable[str]) -> Iterator[str]:
    """Yield options; `SHELL:` begins one of several words."""
    for option in options:
        if option.startswith("SHELL:"):
            yield from option.removeprefix("SHELL:").split()
        elif option:
            yield option


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
