"""Plans forwarders: other names of libraries in a runtime package.

A program may open `libfoo.so` at run time, but a wheel contains a library only under the name that the
loader asks for, `libfoo.so.1`. So beside each such library goes a forwarder
(`lib.pack.stand_ins`), unless the package has another file of that name; and one for each other name of the
library that a file of the package needs. The devel tree has links instead, which linkers need.
"""

import posixpath
import re
from collections.abc import Collection
from dataclasses import replace

from lib.elf.library_name import parse_library_name
from lib.plan.model import COPIES, LIBRARY, Entry, Facts, Kind, Plan, Treatment


def _unversioned(soname: str) -> str | None:
    """Return the name without its version; None if it has none."""
    name = parse_library_name(soname)
    return f"{name.stem}.so" if name and name.version else None


def _age(soname: str) -> list[tuple[int, str]]:
    """Return what sorts the versions of one library, the newest last: `libx.so.10` comes behind `libx.so.9`."""
    parts = re.findall(r"[0-9]+|[^0-9]+", soname)
    return [(int(part), part) if part.isdigit() else (-1, part) for part in parts]


def _libraries(entries: list[Entry], facts: dict[str, Facts]) -> dict[str, Entry]:
    """Return the libraries that are packed under their SONAME, by path.

    Those without an editable dynamic section are of formats and CPUs that pack makes no forwarders for.
    """
    return {
        entry.path: entry
        for entry in entries
        if entry.is_packed_file
        and entry.type == LIBRARY
        and entry.soname == posixpath.basename(entry.path)
        and facts[entry.source].dynamic
    }


def _versions(libraries: dict[str, Entry]) -> dict[str, list[str]]:
    """Return SONAMEs by the path of their unversioned name, the newest first."""
    found: dict[str, list[str]] = {}
    for path in libraries:
        directory, soname = posixpath.split(path)
        if name := _unversioned(soname):
            found.setdefault(posixpath.join(directory, name), []).append(soname)
    return {path: sorted(sonames, key=_age, reverse=True) for path, sonames in found.items()}


def needed_names(entries: list[Entry], facts: dict[str, Facts]) -> dict[str, str]:
    """Return the names of libraries that files of a package need (DT_NEEDED), with the path of the first such file."""
    needed: dict[str, str] = {}
    for entry in entries:
        if entry.treatment in COPIES and entry.source in facts:
            for name in facts[entry.source].needed:
                needed.setdefault(name, entry.path)
    return needed


def _named_by_links(entries: list[Entry], libraries: dict[str, Entry], needed: Collection[str]) -> dict[str, list[str]]:
    """Return what the artifacts' own names lead to, by path: unversioned ones, and those that are `needed`.

    Nothing for names that lead elsewhere: the name of a library which no package ships must not lead to another
    version.
    """
    names: dict[str, list[str]] = {}
    for entry in entries:
        if not entry.path.endswith(".so") and posixpath.basename(entry.path) not in needed:
            continue
        if entry.treatment is Treatment.DROP and entry.kind is Kind.LINK and entry.type == LIBRARY:
            names[entry.path] = []
        elif entry.treatment is Treatment.ALIAS_OF and entry.target:
            library = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), entry.target))
            beside = library in libraries and posixpath.dirname(library) == posixpath.dirname(entry.path)
            names[entry.path] = [posixpath.basename(library)] if beside else []
    return names


def _reason(path: str, sonames: list[str]) -> str:
    if not path.endswith(".so"):
        return f"name of {sonames[0]} by which another file needs it"
    reason = f"unversioned name of {sonames[0]}, which programs open at run time"
    return reason if len(sonames) == 1 else f"{reason}; the newest of {', '.join(sonames)}"


def _taken(entries: list[Entry], builds_on: list[Plan]) -> set[str]:
    """Return the paths that are files or directories already, here or in a package that this one builds on."""
    taken = {entry.path for plan in builds_on for entry in plan.entries if entry.is_packed_file}
    taken |= {entry.path for entry in entries if entry.kind is Kind.DIRECTORY}
    for path in [entry.path for entry in entries if entry.is_packed_file]:
        taken.add(path)
        while path := posixpath.dirname(path):
            taken.add(path)
    return taken


def forwarders(entries: list[Entry], facts: dict[str, Facts], builds_on: list[Plan]) -> list[Entry]:
    """Return the forwarders that a package's entries call for, sorted by path; one stands for an entry of its path.

    Where the artifacts have the name themselves, the forwarder leads to where theirs does, else to the newest version.
    `facts` are the facts about all files of the package, by source.
    """
    known = {entry.path: entry for entry in entries}
    libraries = _libraries(entries, facts)
    taken = _taken(entries, builds_on)
    found = []
    links = _named_by_links(entries, libraries, needed_names(entries, facts))
    for path, sonames in sorted((_versions(libraries) | links).items()):
        if path in taken or not sonames:
            continue
        library = libraries[posixpath.join(posixpath.dirname(path), sonames[0])]
        # Like a launcher, it is packed with the small files of the artifact that has the name, or else the library.
        own = known.get(path) or replace(library, path=path, kind=Kind.NOTHING, link=None)
        found.append(
            replace(
                own,
                treatment=Treatment.FORWARDER,
                reason=_reason(path, sonames),
                mode="0755",
                target=sonames[0],
                rpath=None,
                slice=None,
                absent=None,
                type=LIBRARY,
                soname=posixpath.basename(path),
                machine=facts[library.source].machine,
            )
        )
    return found
