"""The plan of a plain devel package: the development tree as ordinary files, which need not be unpacked.

`plan_devel` says what the tree has. A wheel holds no links, so each of its links becomes a file:

- the SONAME of a library, which the loader asks for: a forwarder to where a package has the library,
- any other name of a library, which linkers ask for: a linker script; static libraries have only such,
- a link to another package's program or data: a copy, because programs find their prefix by where they lie,
- another name of a program: a launcher,
- a link to a directory: a directory, with such files for what lies below.

What is too big to be there twice is not copied: a program gets a launcher, and other files stay where they are.
"""

import posixpath
from dataclasses import dataclass, replace

from lib.common.program import ToolError
from lib.plan.model import (
    BUNDLE,
    LAUNCHED,
    LIBRARY,
    PROGRAM,
    Definition,
    Entry,
    Facts,
    Found,
    Kind,
    Plan,
    Planned,
    Treatment,
    is_executable,
)
from tools.actions.plan.devel import plan_devel
from tools.actions.plan.prefix import Prefix
from tools.actions.plan.runtime import readable, with_facts


@dataclass(frozen=True)
class _Tree:
    """What links are followed in: the artifacts' prefix, and site-packages as it will be."""

    definition: Definition
    prefix: Prefix
    site: Prefix
    #: Paths that are in the tree.
    paths: frozenset[str]

    def place(self, path: str) -> str | None:
        """Return where in site-packages the file is that a path of the tree leads to; None if there is none."""
        resolved = self.site.resolve(posixpath.join(self.definition.tree, path))
        return resolved.path if resolved and resolved.node.kind is Kind.FILE else None

    def may_copy(self, found: Found, facts: Facts) -> bool:
        """Whether the tree may have a file of its own where another package has the same."""
        return facts.unit not in self.definition.linked_units and facts.type != BUNDLE and not facts.device


def _site(entries: list[Entry], definition: Definition, builds_on: list[Plan]) -> Prefix:
    """Return site-packages with all packages and the development tree, links and all."""
    nodes = {}
    for tree, those in [*((plan.tree, plan.entries) for plan in builds_on), (definition.tree, entries)]:
        for entry in those:
            path = posixpath.join(tree, entry.path)
            if entry.treatment is Treatment.LINK_TO:
                nodes[path] = Found(path, Kind.LINK, entry.source, link=entry.target)
            elif entry.is_packed_file:
                nodes[path] = Found(path, Kind.FILE, entry.source)
    return Prefix(nodes, [])


def _drop(entry: Entry, reason: str) -> Entry:
    return Entry(entry.path, entry.kind, Treatment.DROP, reason, entry.source, mode=entry.mode, link=entry.link)


def _made(entry: Entry, treatment: Treatment, place: str, reason: str, tree: _Tree) -> Entry:
    """Return the entry of what pack makes, which leads to a place in site-packages."""
    here = posixpath.join(tree.definition.tree, posixpath.dirname(entry.path))
    mode = "0644" if treatment is Treatment.LINKER_SCRIPT else "0755"
    return replace(entry, treatment=treatment, target=posixpath.relpath(place, here), reason=reason, mode=mode)


def _copy(entry: Entry, found: Found, facts: Facts, tree: _Tree) -> Entry:
    """Return the entry of a file that packages have, too."""
    treatment = Treatment.COPY_OF_LINK if entry.kind is Kind.LINK else Treatment.KEEP
    reason = f"link to a file ({facts.type})" if entry.kind is Kind.LINK else f"{entry.reason}, too ({facts.type})"
    copy = replace(entry, treatment=treatment, reason=reason, source=found.source, mode=found.mode, target=None)
    return with_facts(copy, facts, tree.definition)


def _library(entry: Entry, found: Found, facts: Facts, tree: _Tree) -> Entry:
    """Return the entry for a name of a library that a package has, or this one under another name."""
    name, place = posixpath.basename(entry.path), tree.place(entry.path)
    if place is None:
        return _drop(entry, f"link to {entry.target}, which no package ships")
    if facts.soname not in (None, name):
        return _made(entry, Treatment.LINKER_SCRIPT, place, f"name of {facts.soname}, for linkers", tree)
    # The artifacts' own file is what linkers are given, which need its symbols.
    is_for_linkers = entry.kind is Kind.FILE or facts.soname is None or not facts.dynamic
    if is_for_linkers and tree.may_copy(found, facts):
        return _copy(entry, found, facts, tree)
    if not facts.dynamic:
        return _drop(entry, f"{entry.reason}; no forwarder: {facts.refusal}")
    reason = f"library that {posixpath.dirname(place)} has, for the loader"
    made = _made(entry, Treatment.FORWARDER, place, reason, tree)
    return replace(made, type=LIBRARY, soname=name, machine=facts.machine, versions=facts.versions_defined[1:] or None)


def _file(entry: Entry, found: Found, facts: Facts, tree: _Tree) -> Entry:
    """Return the entry for a path at which the tree has a program or data that a package has, too."""
    if entry.kind is Kind.LINK and found.path.endswith(".a") and found.path in tree.paths:
        place = posixpath.join(tree.definition.tree, found.path)
        return _made(entry, Treatment.LINKER_SCRIPT, place, "name of a static library, for linkers", tree)
    is_started = facts.type == PROGRAM and facts.machine in LAUNCHED and is_executable(found.mode)
    if tree.may_copy(found, facts):
        if not (is_started and entry.kind is Kind.LINK and found.path in tree.paths):
            return _copy(entry, found, facts, tree)
        place, reason = posixpath.join(tree.definition.tree, found.path), f"link to an executable ({facts.type})"
    else:
        place, reason = tree.place(entry.path) or "", "big program that another package has"
        if not (is_started and place):
            return _drop(entry, f"{entry.reason}, where its libraries look for it")
    return replace(_made(entry, Treatment.LAUNCHER, place, reason, tree), machine=facts.machine)


def _plain(entry: Entry, tree: _Tree) -> Entry:
    """Return what an entry of the unpacked tree is in this one."""
    if entry.treatment is not Treatment.LINK_TO:
        return entry
    resolved = tree.prefix.resolve(entry.path)
    found = resolved.node.found if resolved else None
    if found is None:
        return _drop(entry, f"link to {entry.target}, which is in no artifact of this package")
    facts = readable(found, found.facts, tree.definition)
    return (_library if facts.type == LIBRARY else _file)(entry, found, facts, tree)


def _goal(entry: Entry, prefix: Prefix) -> str | None:
    """Return the directory that a link leads to; None if this is no link to one."""
    if entry.kind is not Kind.LINK or entry.treatment is not Treatment.LINK_TO:
        return None
    resolved = prefix.resolve(entry.path)
    return resolved.path if resolved and resolved.node.kind is Kind.DIRECTORY else None


def _below(entry: Entry, goal: str, files: list[Entry]) -> list[Entry]:
    """Return links to all `files` below the directory that a link leads to, instead of that link."""
    found = []
    for file in files:
        if file.path.startswith(f"{goal}/"):
            path = posixpath.join(entry.path, posixpath.relpath(file.path, goal))
            text = posixpath.relpath(file.path, posixpath.dirname(path))
            found.append(Entry(path, Kind.LINK, Treatment.LINK_TO, file.reason, file.source, target=text))
    return found


def _without_links_to_directories(entries: list[Entry], prefix: Prefix) -> list[Entry]:
    """Return the entries with what lies below a link to a directory instead of the link.

    Not so for links that lie below such a link, or below where they lead: there would be no end.
    """
    goals = {entry.path: goal for entry in entries if (goal := _goal(entry, prefix)) is not None}
    files = [entry for entry in entries if entry.kind is not Kind.DIRECTORY and entry.path not in goals]
    files = [entry for entry in files if entry.treatment is not Treatment.DROP]
    made = []
    for entry in entries:
        goal = goals.get(entry.path)
        if goal is None:
            made.append(entry)
        elif not goal or f"{entry.path}/".startswith(f"{goal}/"):
            made.append(_drop(entry, "link to a directory that it lies in"))
        else:
            made += _below(entry, goal, files)
    return sorted(made, key=lambda entry: entry.path)


def _check_fixed(definition: Definition, builds_on: list[Plan]) -> None:
    """Raise ToolError for packages of which users install one or another: no file of this one could lead to them."""
    fixed = {plan.tree for plan in builds_on if not plan.per_target}
    for plan in builds_on:
        if plan.per_target and plan.tree not in fixed:
            raise ToolError(
                f"package {definition.package}: package {plan.package} is one of several for GPU targets, each with "
                "its own tree; expected the same libraries on every machine, because a plain devel package "
                "links to them. Build the layout `archive` of devel packages, or libraries apart from their device code"
            )


def plan_plain(definition: Definition, prefix: Prefix, builds_on: list[Plan]) -> Planned:
    """Plan a plain devel package. Raises ToolError as `plan_devel` does."""
    _check_fixed(definition, builds_on)
    planned = plan_devel(definition, prefix, builds_on).entries
    paths = frozenset(entry.path for entry in planned if entry.treatment is not Treatment.DROP)
    tree = _Tree(definition, prefix, _site(planned, definition, builds_on), paths)
    by_target = {entry.path: plan.package for plan in builds_on if plan.per_target for entry in plan.entries}
    parents = {posixpath.dirname(path) for path in prefix.merged}
    entries = []
    for entry in _without_links_to_directories(planned, prefix):
        if entry.kind is Kind.DIRECTORY:
            if entry.path not in parents:
                entries.append(_drop(entry, "empty directory, which a wheel cannot hold"))
        elif entry.treatment is Treatment.DROP and entry.path in by_target:
            entries.append(_drop(entry, f"package {by_target[entry.path]} has it, where its libraries look for it"))
        else:
            entries.append(_plain(entry, tree))
    return Planned(entries)
