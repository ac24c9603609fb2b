"""Plans the RPATH of each ELF file of a package: the directories of `rpath`, as entries relative to the file.

docs/reference/packages.md explains it, "RPATH entries".
"""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lib.common.program import ToolError
from lib.elf.model import after_origin
from lib.elf.platforms import is_system_library
from lib.plan.model import COPIES, LIBRARY, PROGRAM, WINDOWS, Definition, Entry, Facts, Plan, Treatment

ORIGIN = "$ORIGIN"


def check_searched(package: str, searched: Iterable[str], trees: Iterable[str]) -> None:
    """Raise ToolError for a directory that is not `tree/directory` in one of the trees that are installed together.

    The loader would search it for nothing, or outside site-packages; and to it, `$` and `:` mean something.
    """
    known = sorted(set(trees))
    for entry in searched:
        in_tree = any(entry == tree or entry.startswith(f"{tree}/") for tree in known)
        if not in_tree or ".." in entry.split("/") or {"$", ":"} & set(entry):
            raise ToolError(
                f"package {package}: rpath has {entry!r}; expected TREE/DIRECTORY without `..`, `$` and `:`, where "
                f"TREE is {' or '.join(known)}, the tree of this package or of one in `builds_on`. Correct it, or add "
                "the package whose tree is meant to `builds_on`"
            )


def origin_relative(tree: str, path: str, searched: str) -> str:
    """Return the RPATH entry that leads a file to a directory.

    `tree` and `path` say where the file is, `searched` (`tree/directory`) where the
    libraries are; both trees are siblings in one site-packages.
    """
    here = posixpath.join(tree, posixpath.dirname(path))
    relative = posixpath.relpath(searched, here)
    return ORIGIN if relative == "." else f"{ORIGIN}/{relative}"


def directory_of(tree: str, path: str, entry: str) -> str | None:
    """Return the directory that an entry means for the file at `tree/path`, as `tree/directory`.

    None if it does not move with the file.
    """
    rest = _behind_origin(entry)
    return None if rest is None else posixpath.normpath(posixpath.join(tree, posixpath.dirname(path), rest))


def _behind_origin(entry: str) -> str | None:
    """Return the path behind $ORIGIN in normal form, in which `..` stays; None for another entry."""
    rest = after_origin(entry)
    return None if rest is None else posixpath.normpath(rest.lstrip("/"))


def is_relocatable(entry: str) -> bool:
    """Whether an entry moves with the file: all others name a directory of the build machine, or the current one."""
    return after_origin(entry) is not None


def extended(existing: tuple[str, ...], wanted: list[str]) -> tuple[str, ...]:
    """Append the wanted entries to those that a file has and that move with it, without repeating any."""
    result: list[str] = []
    for entry in [entry for entry in existing if is_relocatable(entry)] + wanted:
        if _behind_origin(entry) not in map(_behind_origin, result):
            result.append(entry)
    return tuple(result)


@dataclass(frozen=True)
class Site:
    """Libraries that the loader finds in site-packages."""

    #: Those with a file, in them or below, as `tree/directory`.
    directories: frozenset[str]
    #: Names of files.
    libraries: frozenset[str]


def site_of(entries: list[Entry], definition: Definition, builds_on: list[Plan]) -> Site:
    """Return what there is once a package is installed with those that it builds on."""
    trees: list[tuple[str, Iterable[Entry]]] = [(definition.tree, entries)]
    trees += [(plan.tree, plan.entries) for plan in builds_on]
    if definition.kind == "devel":  # When its tree is unpacked, it gets links to what packages per GPU target have.
        trees += [(definition.tree, plan.entries) for plan in builds_on if plan.per_target]
    directories: set[str] = set()
    libraries: set[str] = set()
    for tree, those in trees:
        for entry in those:
            if entry.is_packed_file or entry.treatment is Treatment.LINK_TO:
                directory, name = posixpath.split(posixpath.join(tree, entry.path))
                libraries.add(name)
                while directory != posixpath.dirname(tree):
                    directories.add(directory)
                    directory = posixpath.dirname(directory)
    return Site(frozenset(directories), frozenset(libraries))


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


def _is_served_by_system(facts: Facts, site: Site) -> bool:
    """Whether a file needs libraries, but only such as every system has, and opens none: it searches for none."""
    needed = facts.needed
    return bool(needed) and not facts.opens and all(map(is_system_library, needed)) and not {*needed} & site.libraries


def _with_rpath(entry: Entry, facts: Facts, definition: Definition, site: Site) -> Entry:
    """Return the entry with the search path that the file gets; unchanged if the file has this path already."""
    if facts.type not in (LIBRARY, PROGRAM):
        return entry
    if not facts.dynamic:
        return replace(entry, reason=f"{entry.reason}; no RPATH: {facts.refusal}") if facts.refusal else entry
    existing = facts.runpath or facts.rpath  # The loader ignores DT_RPATH where there is DT_RUNPATH.
    wanted = () if _is_served_by_system(facts, site) else definition.rpath
    rpath = extended(existing, [origin_relative(definition.tree, entry.path, one) for one in wanted])
    if rpath == existing and not facts.runpath:
        return entry
    reason = f"{entry.reason}; RPATH {'extended' if rpath else 'removed'}"
    if foreign := [one for one in existing if not is_relocatable(one)]:
        reason += f", without {':'.join(one or '(empty)' for one in foreign)} of the build machine"
    treatment = Treatment.PATCH if entry.treatment is Treatment.KEEP else entry.treatment
    return replace(entry, treatment=treatment, rpath=rpath, reason=reason)


def with_rpaths(
    entries: list[Entry], facts: Mapping[str, Facts], definition: Definition, builds_on: list[Plan]
) -> list[Entry]:
    """Return the entries with the search paths that ELF files get; `facts` are the files' facts, by source."""
    site = site_of(entries, definition, builds_on)
    if definition.platform != WINDOWS:
        check_directories(definition, site, builds_on)
    return [
        _with_rpath(entry, facts[entry.source], definition, site)
        if entry.treatment in COPIES and entry.source in facts
        else entry
        for entry in entries
    ]
