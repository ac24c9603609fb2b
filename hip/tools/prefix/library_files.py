"""Assigns headers and data files of a prefix to libraries, by their names: CMake packages do not say.

Headers, in each include directory of the library, by the names of the package and its libraries:

1. the headers that the package itself lists (INTERFACE_SOURCES), and an include directory that is deeper than another;
2. a directory or header with such a name: `include/rocblas/`, `include/hipblaslt-version.h`;
3. else a directory with the name's first word (`include/hsa/` for hsa-runtime64), or without `roc` or `hip`
   (`include/thrust/` for rocthrust);
4. else a directory that has a header with such a name: `include/hip/`, with `hiprtc.h`, for hiprtc.

If there is none of these, every header of the prefix belongs to the library. Data are the directory beside a library
that is called as it is (`lib/rocblas/` for `librocblas.so.5`), and that in `share/`, unless it is a prefix of its own,
as `lib/llvm/` is. Case, `-` and `_` do not count.
"""

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from hip.tools.prefix.packages import Library, Package
from lib.elf.library_name import parse_library_name
from tools.fetch.catalog.names import CatalogError

#: The target that has every header.
ALL_HEADERS: Final = ":all_headers"
_INCLUDE: Final = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"]([A-Za-z0-9_.-]+)/", re.MULTILINE)
_HEADER: Final = re.compile(r"\.(?:h|hh|hpp|hxx|inc|inl|cuh)$")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _names(package: Package) -> list[str]:
    """Return the names that the headers of a package may go by."""
    names = [package.name]
    for library in package.libraries:
        names += [library.name.rpartition("::")[2], library_stem(library.location)]
    return [name for name in dict.fromkeys(names) if name]


def library_stem(path: str) -> str:
    """Return what a library is called: `rocblas` for `lib/librocblas.so.5`."""
    name = parse_library_name(path)
    return (name.stem if name else posixpath.basename(path).removesuffix(".a")).removeprefix("lib")


class LibraryFiles:
    """Looks into the directories of a prefix, each once."""

    def __init__(self, prefix: Path) -> None:
        self._prefix = prefix
        self._listed: dict[str, dict[str, bool]] = {}

    def headers(self, package: Package, library: Library) -> list[str]:
        """Return patterns for the headers of a library, below the prefix; ALL_HEADERS if none can be told."""
        if not library.include_directories:
            return []
        roots = [one for one in library.include_directories if not _is_below(one, library.include_directories)]
        found = [f"{one}/**" for one in library.include_directories if one not in roots]
        found += [f"{posixpath.dirname(one)}/**" for one in library.sources if posixpath.dirname(one) not in roots]
        found += [one for one in library.sources if posixpath.dirname(one) in roots]
        for root in roots:
            found += self._headers_in(root, _names(package), package.name)
        return _without_covered(found) or [ALL_HEADERS]

    def data(self, path: str) -> list[str]:
        """Return patterns for the data of a library, below the prefix."""
        stem = _plain(library_stem(path))
        found = []
        for root in (posixpath.dirname(path), "share"):
            for name, is_directory in self._list(root).items():
                if is_directory and stem and _plain(name) == stem and self._has_data(f"{root}/{name}"):
                    found.append(f"{root}/{name}/**")
        return found

    def parts(self, path: str) -> list[str]:
        """Return the libraries that a library opens when it runs: `libhiprtc-builtins.so.7` beside `libhiprtc.so.7`."""
        root, stem = posixpath.dirname(path), library_stem(path)
        part = re.compile(rf"lib{re.escape(stem)}-[a-z]+")
        names = [(name, one) for name in self._list(root) if stem and (one := parse_library_name(name))]
        return [f"{root}/{name}" for name, one in names if one.version and part.fullmatch(one.stem)]

    def included(self, patterns: Iterable[str]) -> set[str]:
        """Return the directories, by their names, from which the headers of patterns include others.

        Raises CatalogError for a header that cannot be read: what it includes would be missing.
        """
        found: set[str] = set()
        for path in self._matching(patterns):
            try:
                content = path.read_bytes()
            except (FileNotFoundError, IsADirectoryError):
                continue
            except OSError as error:
                where = os.path.relpath(path, self._prefix)
                raise CatalogError(f"{where}: the header cannot be read: {error.strerror}. Mend the SDK") from None
            found.update(name.decode(errors="replace") for name in _INCLUDE.findall(content))
        return found

    def _matching(self, patterns: Iterable[str]) -> Iterator[Path]:
        for pattern in patterns:
            if not pattern.endswith("/**"):
                yield self._prefix / pattern
                continue
            for directory, _, names in os.walk(self._prefix / pattern.removesuffix("/**")):
                yield from (Path(directory, name) for name in names if _HEADER.search(name))

    def _headers_in(self, root: str, names: Sequence[str], package: str) -> list[str]:
        plain = {_plain(name) for name in names}
        entries = self._list(root)
        directories = [name for name, is_directory in entries.items() if is_directory]
        found = [f"{root}/{name}/**" for name in directories if _plain(name) in plain]
        found += [
            f"{root}/{name}"
            for name, is_directory in entries.items()
            if not is_directory and _HEADER.search(name) and _is_called(name, plain)
        ]
        if found:
            return found
        words = {_plain(re.split(r"[-_]", package)[0]), _plain(re.sub(r"^(?:roc|hip)", "", package.lower()))}
        found = [f"{root}/{name}/**" for name in directories if _plain(name) in words]
        if found:
            return found
        return [
            f"{root}/{name}/**"
            for name in directories
            if any(
                _HEADER.search(one) and _plain(one.rpartition(".")[0]) in plain for one in self._list(f"{root}/{name}")
            )
        ]

    def _list(self, directory: str) -> dict[str, bool]:
        """Return the names in a directory, sorted, and whether each is a directory."""
        if directory not in self._listed:
            try:
                with os.scandir(self._prefix / directory) as entries:
                    self._listed[directory] = {
                        one.name: one.is_dir() for one in sorted(entries, key=lambda one: one.name)
                    }
            except OSError:
                self._listed[directory] = {}
        return self._listed[directory]

    def _has_data(self, directory: str) -> bool:
        if {"bin", "include", "lib"} & self._list(directory).keys():
            return False
        return any(files for _, _, files in os.walk(self._prefix / directory))


def _is_below(path: str, others: Iterable[str]) -> bool:
    return any(path.startswith(f"{other}/") for other in others)


def _is_called(header: str, names: set[str]) -> bool:
    """Return whether a header has the name of a package, or begins with it: `rccl.h`, `hipblaslt-export.h`."""
    stem = header.rpartition(".")[0].lower()
    return _plain(stem) in names or any(_plain(part) in names for part in (re.split(r"[-_]", stem)[0],))


def _without_covered(patterns: Iterable[str]) -> list[str]:
    """Return patterns without those that another covers."""
    distinct = list(dict.fromkeys(patterns))
    roots = [one.removesuffix("**") for one in distinct if one.endswith("/**")]
    return sorted(one for one in distinct if not any(one.startswith(root) and one != f"{root}**" for root in roots))
