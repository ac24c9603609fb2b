"""The coverage table: which library has device code for which GPU target.

    coverage = collect([("lib/librocblas.so.5", "gfx1030"), ("lib/librocblas.so.5", "gfx90a:xnack+")])
    coverage.libraries["lib/librocblas.so.5"]  # ("gfx1030", "gfx90a:xnack+")

    refused(coverage, targets)  # targets that lack so much that they should not be offered

A build writes it as a report, in version 1 of the format:

    {"format": 1, "libraries": {"lib/librocblas.so.5": ["gfx1030", "gfx90a:xnack+"]}}

A key is the path, below the package's tree, of the library or program that owns the code; or, for code that belongs to
none, a directory, with `/` at its end (`owner_of`). Values are target IDs in canonical form.
"""

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lib.common.program import write_document
from lib.elf.library_name import parse_library_name
from lib.gpus.families import without_features
from lib.gpus.paths import covered, loads
from lib.pe.constants import DLL_DIRECTORIES

FORMAT = 1


@dataclass(frozen=True)
class Coverage:
    """Table of the targets that each library has code for. Keys and target IDs are sorted."""

    #: Library, as keys are (see the module) -> the target IDs that it has code for.
    libraries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort."""
        ordered = {library: tuple(sorted(targets)) for library, targets in sorted(self.libraries.items())}
        object.__setattr__(self, "libraries", ordered)

    @property
    def targets(self) -> tuple[str, ...]:
        """The target IDs for which any library has code, sorted."""
        return tuple(sorted({target for targets in self.libraries.values() for target in targets}))

    def to_document(self) -> dict[str, Any]:
        """Return the table as JSON data."""
        return {"format": FORMAT, "libraries": {library: list(targets) for library, targets in self.libraries.items()}}


def collect(pairs: Iterable[tuple[str, str]]) -> Coverage:
    """Return the table of (library, target ID) pairs, in any order and as often as they come."""
    found: dict[str, set[str]] = {}
    for library, target in pairs:
        found.setdefault(library, set()).add(target)
    return Coverage({library: tuple(targets) for library, targets in found.items()})


def write_coverage(path: str, coverage: Coverage) -> None:
    """Write a table: keys sorted, a target ID a line, a newline at the end; equal tables are equal bytes."""
    write_document(path, coverage.to_document())


#: Directories below which each library keeps its own files, in a directory of the library's name.
_LIBRARY_DIRECTORIES = ("lib", "lib64")
_DATA_DIRECTORIES = ("share", "libexec")
#: On Windows `lib` stands in front of the names of libraries, or does not.
_DLL_NAME = re.compile(r"(?:lib)?(?P<name>.+?)\.dll", re.IGNORECASE)


def library_name(path: str) -> str | None:
    """Return what a library is called: `miopen` for `lib/libMIOpen.so.1`, `rocblas` for `bin/rocblas.dll`.

    None if it is not named like a library.
    """
    if library := parse_library_name(path):
        return library.short.casefold() or None
    match = _DLL_NAME.fullmatch(posixpath.basename(path))
    return match["name"].casefold() if match else None


def data_directory(path: str) -> tuple[str, str] | None:
    """Return the directory of one library's files that a path lies in, and that library's name; None if in none.

    For `lib/rocblas/5/library/x.co` these are `lib/rocblas/` and `rocblas`.
    """
    parts = path.split("/")
    for at, part in enumerate(parts[:-2]):
        if part in _LIBRARY_DIRECTORIES + _DATA_DIRECTORIES:
            return "/".join(parts[: at + 2]) + "/", parts[at + 1].casefold()
    return None


def _beside_dll(path: str, libraries: Collection[str]) -> tuple[str, str] | None:
    """Return the same of a directory in `bin` (on Linux programs lie there), if a DLL named like it lies beside it."""
    parts = path.split("/")
    for at in range(len(parts) - 2):
        beside = posixpath.join(*parts[: at + 1], "")
        name = parts[at + 1].casefold()
        if parts[at] in DLL_DIRECTORIES and any(
            posixpath.dirname(one) + "/" == beside and one.lower().endswith(".dll") and library_name(one) == name
            for one in libraries
        ):
            return f"{beside}{parts[at + 1]}/", name
    return None


def owner_of(path: str, libraries: Collection[str]) -> str:
    """Return the key, in the coverage table, of a file of device code that is not one of `libraries`.

    `libraries` are paths of all libraries, whether they have code in themselves or not. The file's directory has the
    name of its owner: a library beside the directory if that lies in `lib`, anywhere if in `share`. Of several, the one
    nearest to the top counts, then the first in sorted order. Without any, the key is the directory, with `/`.
    """
    found = data_directory(path) or _beside_dll(path, libraries)
    if found is None:
        directory = posixpath.dirname(path)
        return directory + "/" if directory else path
    directory, name = found
    parent = posixpath.dirname(directory.removesuffix("/"))
    named = [library for library in libraries if library_name(library) == name]
    if posixpath.basename(parent) in (*_LIBRARY_DIRECTORIES, *DLL_DIRECTORIES):
        named = [library for library in named if posixpath.dirname(library) == parent]
    return min(named, key=lambda library: (library.count("/"), library), default=directory)


#: A library is a base library, in the eyes of a target, if it serves this part of all other targets, in percent.
BASE_PERCENT = 80
#: With fewer other targets than these no library can be said to serve "nearly all".
BASE_OTHERS = 3


def serves(codes: Iterable[str], target: str) -> bool:
    """Whether a GPU of the target can load any of the code, given by target IDs."""
    return any(loads(code, target) for code in codes)


def processors(coverage: Coverage) -> tuple[str, ...]:
    """Return the processors for which any library has code, generic code too, sorted as people do."""
    found = {processor for code in coverage.targets for processor in covered(code)}
    return tuple(sorted(found, key=lambda processor: (len(processor), processor)))


def lacking(coverage: Coverage, target: str) -> tuple[str, ...]:
    """Return the libraries that have device code, but none for a target, sorted."""
    return tuple(library for library, codes in coverage.libraries.items() if not serves(codes, target))


def base_libraries(coverage: Coverage, target: str) -> tuple[str, ...]:
    """Return the libraries that serve BASE_PERCENT of all processors but the target's; none if those are too few."""
    others = [one for one in processors(coverage) if one != without_features(target)]
    if len(others) < BASE_OTHERS:
        return ()
    return tuple(
        library
        for library, codes in coverage.libraries.items()
        if 100 * sum(serves(codes, other) for other in others) >= BASE_PERCENT * len(others)
    )


@dataclass(frozen=True)
class Refused:
    """A target that should not be offered, and the libraries, of those that nearly all others have, that it lacks."""

    target: str
    libraries: tuple[str, ...]


def refused(coverage: Coverage, targets: Collection[str]) -> list[Refused]:
    """Return the targets that lack most base libraries, or all libraries there are, sorted.

    One missing base library is no reason: there are libraries, such as RCCL, that all targets have but a few. Who lacks
    more than half of the base libraries cannot be worked with.
    """
    found = []
    for target in sorted(set(targets)):
        missing = lacking(coverage, target)
        base = base_libraries(coverage, target)
        missing_base = tuple(library for library in base if library in missing)
        if 2 * len(missing_base) > len(base) or (missing and len(missing) == len(coverage.libraries)):
            found.append(Refused(target, missing_base or missing))
    return found


def lacks_by_processor(coverage: Coverage) -> Mapping[str, tuple[str, ...]]:
    """Return what each processor lacks, for those that have code in any library."""
    return {processor: lacking(coverage, processor) for processor in processors(coverage)}
