"""The table of libraries: which SONAMEs each package has.

    table = read_sonames("sonames.json")
    table["core"]  # ("libamdhip64.so.7", "libhsa-runtime64.so.1")

A build computes it, a release engineer can commit it, and checks compare with it. Only this module knows the format,
version 1:

    {"format": 1, "packages": {"core": ["libamdhip64.so.7", "libhsa-runtime64.so.1"]}}

A library counts in the package that has its bytes, under the name that the loader looks for: its SONAME, or the name
of a DLL. Packages without any are not listed.
"""

import posixpath
from collections.abc import Iterator, Mapping

from lib.common.program import ToolError, read_document, write_document
from lib.plan.model import COPIES, LIBRARY, PE_LIBRARY, Entry, Plan

FORMAT = 1

#: Name of a package -> the libraries that it has, sorted.
Sonames = Mapping[str, tuple[str, ...]]


def _is_found(entry: Entry) -> bool:
    """Whether the loader finds a library at the path of an entry."""
    return entry.type == PE_LIBRARY or (entry.type == LIBRARY and entry.soname == posixpath.basename(entry.path))


def libraries_of(plan: Plan) -> dict[str, str]:
    """Return the libraries of a package, sorted: SONAME (or name of the DLL) -> path in the package's tree."""
    paths = (one.path for one in plan.entries if one.treatment in COPIES and _is_found(one))
    return dict(sorted((posixpath.basename(path), path) for path in paths))


def sonames_of(plan: Plan) -> tuple[str, ...]:
    """Return the SONAMEs (or names of DLLs) of a package's libraries, sorted."""
    return tuple(libraries_of(plan))


def read_sonames(path: str) -> Sonames:
    """Read a table; raises ToolError for anything that is not a table."""
    document = read_document(path)
    packages = document.get("packages") if isinstance(document, dict) else None
    if not isinstance(packages, dict) or document.get("format") != FORMAT:
        raise ToolError(
            f'{path}: expected a table of libraries, {{"format": {FORMAT}, "packages": {{…}}}}. Write it again'
        )
    for name, libraries in packages.items():
        if not isinstance(libraries, list) or not all(isinstance(one, str) for one in libraries):
            raise ToolError(f"{path}: packages: {name!r}: expected a list of SONAMEs. Write it again")
    return {name: tuple(sorted(set(libraries))) for name, libraries in packages.items()}


def write_sonames(path: str, table: Sonames) -> None:
    """Write a table: sorted, a library a line; equal tables are equal bytes."""
    packages = {name: list(libraries) for name, libraries in sorted(table.items())}
    write_document(path, {"format": FORMAT, "packages": packages})


def differences(expected: Sonames, found: Sonames) -> Iterator[str]:
    """Yield a line for each package that is not as expected, sorted."""
    for name in sorted({*expected, *found}):
        lost, new = (
            sorted({*one.get(name, ())} - {*other.get(name, ())})
            for one, other in ((expected, found), (found, expected))
        )
        if name not in found:
            yield f"  {name} is not there, or has no library; expected {', '.join(lost)}"
        elif name not in expected:
            yield f"  {name} is new, or had no library; it has {', '.join(new)}"
        elif lost or new:
            words = [f"{verb} {', '.join(names)}" for verb, names in (("lacks", lost), ("has also", new)) if names]
            yield f"  {name} {', and '.join(words)}"
