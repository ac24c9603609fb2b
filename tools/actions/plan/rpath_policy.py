"""Which files of a package get which RPATH, once it is planned what the packages hold.

The definition says it: `rpath`, `rpath_tag`, `rpath_for`, `dlopens` and `unedited`.
docs/reference/packages.md explains it, "RPATH entries".
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from lib.common.program import ToolError
from lib.elf.platforms import is_system_library
from lib.plan.model import (
    COPIES,
    DT_RPATH,
    DT_RUNPATH,
    LIBRARY,
    PROGRAM,
    WINDOWS,
    Definition,
    Entry,
    Facts,
    Plan,
    Treatment,
    matches,
)
from tools.actions.plan.rpath import directory_of, extended, is_relocatable, origin_relative


@dataclass(frozen=True)
class Site:
    """What the loader finds in site-packages: directories are `tree/directory`."""

    #: Those with a file, in them or below.
    directories: frozenset[str]
    #: File name -> the directories that have it.
    libraries: Mapping[str, frozenset[str]]


def site_of(entries: list[Entry], definition: Definition, builds_on: list[Plan]) -> Site:
    """Return what there is once a package is installed with those that it builds on."""
    trees: list[tuple[str, Iterable[Entry]]] = [(definition.tree, entries)]
    trees += [(plan.tree, plan.entries) for plan in builds_on]
    if definition.kind == "devel":  # When its tree is unpacked, it gets links to what packages per GPU target have.
        trees += [(definition.tree, plan.entries) for plan in builds_on if plan.per_target]
    directories: set[str] = set()
    libraries: dict[str, set[str]] = {}
    for tree, those in trees:
        for entry in those:
            if entry.is_packed_file or entry.treatment is Treatment.LINK_TO:
                directory, name = posixpath.split(posixpath.join(tree, entry.path))
                libraries.setdefault(name, set()).add(directory)
                while directory != posixpath.dirname(tree):
                    directories.add(directory)
                    directory = posixpath.dirname(directory)
    return Site(frozenset(directories), {name: frozenset(found) for name, found in libraries.items()})


def check_directories(definition: Definition, site: Site, builds_on: list[Plan]) -> None:
    """Raise ToolError for directories of `rpath` without a file, in trees that have files."""
    trees = {definition.tree: definition.package} | {plan.tree: plan.package for plan in builds_on}
    for entry in definition.rpath:
        directory = posixpath.normpath(entry)
        tree = max((tree for tree in trees if f"{directory}/".startswith(f"{tree}/")), key=len)
        if tree in site.directories and directory not in site.directories and entry not in definition.allow_unmatched:
            raise ToolError(
                f"package {definition.package}: rpath has {entry!r}, but package {trees[tree]} has no file in that "
                "directory; expected one with libraries. Correct the directory, or remove it. If it may be missing, "
                "name it in `allow_unmatched`, too"
            )


def check_dlopens(definition: Definition, site: Site) -> None:
    """Raise ToolError for a library of `dlopens` that is in no directory of `rpath`."""
    searched = {posixpath.normpath(directory) for directory in definition.rpath}
    for pattern, names in definition.dlopens.items():
        for name in names:
            if not searched & site.libraries.get(name, frozenset()):
                places = ", ".join(sorted(site.libraries.get(name, ()))) or "no package"
                raise ToolError(
                    f"package {definition.package}: dlopens says that {pattern} opens {name}, which is in {places}; "
                    "expected a directory of `rpath`. Add the directory, or correct the name. If users' machines must "
                    "have the library, name it in `requires_external` of the wheel instead"
                )


@dataclass(frozen=True)
class _File:
    """A program or library with a dynamic section, and all that decides on its search path."""

    entry: Entry
    facts: Facts
    definition: Definition
    site: Site

    @property
    def existing(self) -> tuple[str, ...]:
        """The entries that the loader reads: it ignores DT_RPATH where there is DT_RUNPATH."""
        return self.facts.runpath or self.facts.rpath

    @property
    def has_tag(self) -> bool:
        """Whether the file has no search path under the other tag than the package's."""
        return not (self.facts.runpath if self.definition.rpath_tag == DT_RPATH else self.facts.rpath)

    def directory(self, searched: str) -> str | None:
        """Return the directory that an entry of the file means."""
        return directory_of(self.definition.tree, self.entry.path, searched)

    def missed(self) -> Iterator[str]:
        """Yield the libraries in directories of `rpath` that the file needs or opens, and that its entries miss."""
        names = [*self.facts.needed]
        for pattern, opened in self.definition.dlopens.items():
            names += opened if matches(self.entry.path, (pattern,)) else ()
        own = {place for one in self.existing if self.has_tag and (place := self.directory(one))}
        searched = {posixpath.normpath(directory) for directory in self.definition.rpath}
        for name in names:
            found = self.site.libraries.get(name, frozenset())
            if found & searched and not found & own:
                yield name

    def dead(self) -> list[str]:
        """Return the entries that move with the file and lead to no file of a package."""
        return [
            one for one in self.existing if is_relocatable(one) and self.directory(one) not in self.site.directories
        ]

    def is_served_by_system(self) -> bool:
        """Whether the file needs libraries, but only such as every system has, and opens none: it searches for none."""
        opens = self.facts.opens or any(matches(self.entry.path, (pattern,)) for pattern in self.definition.dlopens)
        names = self.facts.needed
        return (
            bool(names) and not opens and all(map(is_system_library, names)) and not {*names} & {*self.site.libraries}
        )

    def planned(self) -> Entry:
        """Return the entry with the search path that the file gets; unchanged if the file has this path already."""
        wanted = [] if self.is_served_by_system() else [*self.definition.rpath]
        foreign, dead = [one for one in self.existing if not is_relocatable(one)], list[str]()
        if self.definition.rpath_for == "needed":
            dead = self.dead()
            is_needed = any(True for _ in self.missed())
            if not (is_needed or foreign or dead):
                return self.entry
            wanted = [one for one in wanted if is_needed and posixpath.normpath(one) in self.site.directories]
        kept = tuple(one for one in self.existing if one not in dead)
        rpath = extended(kept, [origin_relative(self.definition.tree, self.entry.path, one) for one in wanted])
        if rpath == self.existing and self.has_tag:
            return self.entry
        return self._changed(rpath, foreign, dead)

    def _changed(self, rpath: tuple[str, ...], foreign: list[str], dead: list[str]) -> Entry:
        reason = f"{self.entry.reason}; RPATH {'extended' if rpath else 'removed'}"
        if foreign:
            reason += f", without {':'.join(one or '(empty)' for one in foreign)} of the build machine"
        if dead:
            reason += f", without {':'.join(dead)}, where no package has a file"
        treatment = Treatment.PATCH if self.entry.treatment is Treatment.KEEP else self.entry.treatment
        tag = DT_RUNPATH if rpath and self.definition.rpath_tag == DT_RUNPATH else None
        return replace(self.entry, treatment=treatment, rpath=rpath, rpath_tag=tag, reason=reason)


def _with_rpath(entry: Entry, facts: Facts, definition: Definition, site: Site) -> Entry:
    file = _File(entry, facts, definition, site)
    if matches(entry.path, definition.unedited):
        missed = ", ".join(file.missed())
        return replace(
            entry, reason=f"{entry.reason}; not edited" + (f", and needs an RPATH to {missed}" if missed else "")
        )
    if facts.type not in (LIBRARY, PROGRAM):
        return entry
    if not facts.dynamic:
        return replace(entry, reason=f"{entry.reason}; no RPATH: {facts.refusal}") if facts.refusal else entry
    return file.planned()


def with_rpaths(
    entries: list[Entry], facts: Mapping[str, Facts], definition: Definition, builds_on: list[Plan]
) -> list[Entry]:
    """Return the entries with the search paths that ELF files get; `facts` are the files' facts, by source."""
    site = site_of(entries, definition, builds_on)
    if definition.platform != WINDOWS:
        check_directories(definition, site, builds_on)
        check_dlopens(definition, site)
    return [
        _with_rpath(entry, facts[entry.source], definition, site)
        if entry.treatment in COPIES and entry.source in facts
        else entry
        for entry in entries
    ]
