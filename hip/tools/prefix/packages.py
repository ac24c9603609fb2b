"""The CMake packages of an install prefix: their libraries, with what a program needs to use them.

    for package in read_packages(Path("prefix"), Path("cmake")):
        print(package.name, [library.name for library in package.libraries])

A package is a directory with `{name}Config.cmake` or `{name}-config.cmake` where `find_package` looks. CMake itself
reads them (cmake_exports.py). A library whose file is not in the prefix is left out, and so is a package whose files
CMake refuses; `notes` lists them.
"""

import os
import posixpath
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hip.tools.prefix.cmake_exports import ROOT, CMake, Export, ImportedTarget, below
from hip.tools.prefix.shared_libraries import SharedLibraries
from tools.fetch.catalog.names import CatalogError

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
    libraries: tuple[Library, ...]
    #: The packages that it asks for, by name, whether the prefix has them or not.
    dependencies: tuple[str, ...]
    #: What is left out, with the file.
    notes: tuple[str, ...] = ()
    #: The libraries that are left out because their files are not in the prefix.
    absent: tuple[str, ...] = ()
    #: Whether CMake could read it.
    is_read: bool = True


def read_packages(prefix: Path, cmake: Path) -> tuple[Package, ...]:
    """Have CMake, the program, read all packages of a prefix; return them sorted by name.

    Raises CatalogError if a file cannot be read, or CMake cannot be run.
    """
    places = sorted((name, posixpath.dirname(path)) for name, path in configurations(prefix).items())
    if not places:
        return ()
    with tempfile.TemporaryDirectory() as scratch:
        reader = CMake(cmake, prefix, [place for _, place in places], Path(scratch))
        exports = {name: reader.read(name, place) for name, place in places}
    targets = {name for export in exports.values() for name in export.targets}
    libraries = _LibraryReader(prefix, targets)
    return tuple(_package(name, export, libraries) for name, export in exports.items())


def left_out(packages: Sequence[Package]) -> list[str]:
    """Return what packages name and targets lack: files, third-party libraries, options of the compiler.

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
    """Raise CatalogError if the prefix has none of its packages' libraries, or CMake can read none of the packages."""
    if packages and not any(package.is_read for package in packages):
        raise CatalogError(f"{prefix}: CMake can read no package of it. {packages[0].notes[-1]}. Install the SDK again")
    absent = [f"{name} of {package.name}" for package in packages for name in package.absent]
    if absent and not any(library.location for package in packages for library in package.libraries):
        raise CatalogError(
            f"{prefix}: has CMake packages, but not their libraries, such as {absent[0]}; expected the files at the "
            "paths in the packages. Install the SDK into this prefix; do not move parts of it"
        )


def configurations(prefix: Path) -> dict[str, str]:
    """Return the file that each package begins with. Of several with one name, in whatever case, the first counts."""
    found: dict[str, tuple[str, str]] = {}
    for base in _BASES:
        for pattern in (f"{base}/cmake/*/*onfig.cmake", f"{base}/*/cmake/*onfig.cmake", f"{base}/cmake/*onfig.cmake"):
            for path in sorted(prefix.glob(pattern)):
                inside = path.relative_to(prefix).as_posix()
                if name := _package_name(inside):
                    found.setdefault(name.lower(), (name, inside))
    return dict(found.values())


def _package_name(path: str) -> str | None:
    """Return the name of the package that a file defines; None if it is a part of another package.

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
        if library := reader.library(target, notes):
            libraries.append(library)
        else:
            absent.append(target.name)
    return Package(
        name, tuple(libraries), tuple(export.dependencies), tuple(dict.fromkeys(notes)), tuple(absent), export.is_read
    )


class _LibraryReader:
    """Makes libraries from targets."""

    def __init__(self, prefix: Path, targets: set[str]) -> None:
        self._prefix = prefix
        self._shared = SharedLibraries(prefix)
        self._targets = targets

    def library(self, target: ImportedTarget, notes: list[str]) -> Library | None:
        """Return the library of a target; None, with a note, if its file is not in the prefix."""
        location, kind = "", "interface"
        if target.kind not in ("INTERFACE", "ALIAS", "OBJECT"):
            if not (file := self._location(target, notes)):
                return None
            location = file
            kind = "static" if target.kind == "STATIC" or location.endswith(".a") else "shared"
        if kind == "shared":
            location = self._shared.by_soname(location)
        linked = target.properties.get("INTERFACE_LINK_LIBRARIES", [])
        libraries = [one for one in linked if self._is_target(one) and one != target.name]
        others = [_THREADS.get(one) or _option(one) for one in linked if not self._is_target(one)]
        files = [self._existing(one) for one in others]
        options = [one for one, file in zip(others, files, strict=True) if not file]
        options += _words(target.properties.get("INTERFACE_LINK_OPTIONS", []))
        defines = [one.removeprefix("-D") for one in target.properties.get("INTERFACE_COMPILE_DEFINITIONS", [])]
        compiled = _words(target.properties.get("INTERFACE_COMPILE_OPTIONS", []))
        return Library(
            target.name,
            kind,
            location,
            tuple(self._paths(target, "INTERFACE_INCLUDE_DIRECTORIES", notes)),
            tuple(_distinct(self._without_paths(target, defines, notes))),
            tuple(self._without_paths(target, compiled, notes)),
            tuple(_distinct(libraries)),
            tuple(self._without_paths(target, options, notes)),
            tuple(self._paths(target, "INTERFACE_SOURCES", notes)),
            tuple(one for one in files if one),
        )

    def _existing(self, path: str) -> str | None:
        """Return a path relative to the prefix, None if the prefix does not have it."""
        inside = below(path)
        return None if inside is None or not os.path.exists(self._prefix / inside) else inside  # noqa: PTH110

    def _location(self, target: ImportedTarget, notes: list[str]) -> str | None:
        """Return the file of a target; None, with a note, if it is not in the prefix."""
        path = ";".join(target.properties.get("LOCATION", []))
        if not (file := self._existing(path)):
            shown = below(path) or path or "it names none"
            notes.append(f"{target.place}: {target.name}: its file is not in the prefix: {shown}")
        return file

    def _is_target(self, name: str) -> bool:
        return name not in _THREADS and ("::" in name or name in self._targets)

    @staticmethod
    def _without_paths(target: ImportedTarget, options: Iterable[str], notes: list[str]) -> list[str]:
        """Return the options without paths. Those with a path are valid only where the prefix was built."""
        kept = []
        for option in options:
            if ROOT in option or option.startswith(("/", "-L/")):
                notes.append(f"{target.place}: {target.name}: an option with a path: {option}")
            else:
                kept.append(option)
        return kept

    def _paths(self, target: ImportedTarget, name: str, notes: list[str]) -> list[str]:
        """Return the paths of a property that the prefix has."""
        found = []
        for path in target.properties.get(name, []):
            inside = self._existing(path)
            if inside is None:
                notes.append(f"{target.place}: {target.name}: {name}: not in the prefix: {below(path) or path}")
            else:
                found.append(inside)
        return _distinct(found)


def _option(name: str) -> str:
    """Return the linker's option for an element of INTERFACE_LINK_LIBRARIES that is not a target."""
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
