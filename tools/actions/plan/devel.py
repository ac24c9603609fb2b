"""The plan of the devel package: the whole tree, files and links.

What a runtime package ships is not shipped again: the tree has a link to it, which
becomes a hard link on first use. What a package per GPU target ships is
left out, because only the machine knows which of those are installed.
"""

import posixpath
from dataclasses import dataclass, replace

from lib.common.program import ToolError
from lib.plan.model import (
    DANGLES,
    LIBRARY,
    OTHER_NAMES,
    Definition,
    Entry,
    Found,
    Kind,
    Plan,
    Planned,
    Treatment,
    is_executable,
)
from tools.actions.plan.prefix import Prefix
from tools.actions.plan.runtime import entry_of, left_out, readable, with_facts

#: The reason of a link that is in the tree as it is in the artifact.
KEPT_LINK = "link, kept"


@dataclass(frozen=True)
class _Tree:
    """Sources of the devel tree: its definition and prefix, and the packages that ship or know each path."""

    definition: Definition
    prefix: Prefix
    owners: dict[str, tuple[Plan, Entry]]


def _sibling(tree: str, path: str, target: str) -> str:
    """Return the text of a link at `path` of the devel tree to the path `target` of another tree."""
    return "../" * (path.count("/") + 1) + posixpath.join(tree, target)


def _source(found: Found, prefix: Prefix) -> str | None:
    """Return the source of the bytes that a path has, which may be a link; None if that leads to none."""
    node = resolved.node if (resolved := prefix.resolve(found.path)) else None
    here = (node.found or node.entry) if node else None
    return here.source if here else None


def _comes_along(plan: Plan, owned: Entry) -> bool:
    """Whether the tree has a file of a package per GPU target once that is installed: all except its forwarders."""
    return plan.per_target and owned.is_packed_file and owned.treatment is not Treatment.FORWARDER


def _is_linked(found: Found, plan: Plan, owned: Entry, prefix: Prefix) -> bool:
    """Whether this package has a link to a runtime package's file instead of what the artifact has at its path.

    It has if the file is the same. Of packages per GPU target another one may be installed than the plan is of.
    """
    stays_link = found.kind is Kind.LINK and not (owned.treatment is Treatment.COPY_OF_LINK and owned.type == LIBRARY)
    if not owned.is_packed_file or stays_link:
        return False
    if plan.per_target:
        return _comes_along(plan, owned)
    source = _source(found, prefix)
    return source is not None and prefix.is_same(source, owned.source)


def _is_other_name(found: Found, plan: Plan, owned: Entry, prefix: Prefix) -> bool:
    """Whether a file is a library that a runtime package leaves out, because it has the same under another name."""
    if owned.treatment not in OTHER_NAMES or {found.kind, owned.kind} != {Kind.FILE}:
        return False
    return plan.per_target or prefix.is_same(found.source, owned.source)


def _other_name(found: Found, plan: Plan, owned: Entry, tree: _Tree) -> Entry | None:
    """Return the entry for a library of which a runtime package has the bytes under another name.

    It leads to that name here. Where the tree has something else there, or nothing, it leads into the package.
    """
    path = posixpath.normpath(posixpath.join(posixpath.dirname(found.path), owned.target or ""))
    reason = f"alias of the library's SONAME, {posixpath.basename(path)}"
    owner, library = tree.owners.get(path, (plan, owned))
    here = tree.prefix.own(path)
    is_linked = here is not None and _is_linked(here, owner, library, tree.prefix)
    if is_linked and not left_out(path, tree.definition):
        return entry_of(found, Treatment.LINK_TO, reason, owned.target)
    if plan.per_target:
        return entry_of(found, Treatment.LINK_TO, reason, owned.target) if is_linked or here is None else None
    if not library.is_packed_file:
        return None
    return entry_of(found, Treatment.LINK_TO, reason, _sibling(owner.tree, found.path, path))


def _is_run_only_here(found: Found, owned: Entry, prefix: Prefix) -> bool:
    """Whether only artifacts of this package say that a file, or what a link leads to, is to be run."""
    resolved = prefix.resolve(found.path)
    file = resolved.node.found if resolved else None
    return bool(file and file.facts and is_executable(file.mode) and not is_executable(owned.mode))


def _owned(found: Found, plan: Plan, owned: Entry, tree: _Tree) -> Entry | None:
    """Return the entry for a path that a runtime package knows, or None if this package must hold it."""
    if _is_other_name(found, plan, owned, tree.prefix):
        return _other_name(found, plan, owned, tree)
    if not _is_linked(found, plan, owned, tree.prefix):
        return None
    if plan.per_target:
        return entry_of(found, Treatment.DROP, f"linked to {plan.package}, if that is installed")
    if _is_run_only_here(found, owned, tree.prefix):  # a link to the package's file could not be run
        if not found.facts:
            return None
        reason = f"package {plan.package} has it, but not as an executable"
        return with_facts(entry_of(found, Treatment.KEEP, reason), found.facts, tree.definition)
    return entry_of(
        found, Treatment.LINK_TO, f"package {plan.package} has it", _sibling(plan.tree, found.path, found.path)
    )


def _own(found: Found, definition: Definition, prefix: Prefix) -> Entry:
    if found.kind is Kind.DIRECTORY:
        return entry_of(found, Treatment.DROP, "empty directory, which a wheel cannot hold")
    if found.kind is Kind.LINK:
        if prefix.resolve(found.path) is None:
            return entry_of(found, Treatment.DROP, f"{DANGLES}: {found.link}")
        return entry_of(found, Treatment.LINK_TO, KEPT_LINK, found.link)
    facts = readable(found, found.facts, definition)
    return with_facts(entry_of(found, Treatment.KEEP, f"no runtime package has it ({facts.type})"), facts, definition)


def _tree_as_planned(entries: list[Entry], tree: _Tree) -> Prefix:
    """Return what the tree will have, to follow links in; what a package per GPU target has may be there as well."""
    nodes = {}
    for entry in entries:
        stays = entry.treatment is Treatment.LINK_TO and entry.kind is Kind.LINK and entry.target == entry.link
        kind = entry.kind if stays else Kind.FILE
        owner = tree.owners.get(entry.path)
        if entry.treatment is not Treatment.DROP or (owner and _comes_along(*owner)):
            nodes[entry.path] = Found(entry.path, kind, entry.source, link=entry.link)
    return Prefix(nodes, [])


def _led(entry: Entry, planned: Prefix, tree: _Tree) -> Entry:
    """Return the entry of a link that leads nowhere in the tree as planned: it leads past what is not there."""
    resolved = tree.prefix.resolve(entry.path)
    path = resolved.path if resolved else entry.path
    plan, owned = tree.owners.get(path, (None, None))
    if owned and owned.treatment in OTHER_NAMES and not planned.resolve(path):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), owned.target or ""))
        plan, owned = tree.owners.get(path, (None, None))
    text = posixpath.relpath(path or ".", posixpath.dirname(entry.path) or ".")
    if planned.resolve(path):
        return replace(entry, target=text, reason=f"link to {text}")
    if not plan or not owned or not owned.is_packed_file:
        return replace(entry, treatment=Treatment.DROP, target=None, reason=f"link to {text}, which no package ships")
    if plan.per_target:
        return entry
    reason = f"link to {path}, which package {plan.package} has"
    return replace(entry, target=_sibling(plan.tree, entry.path, path), reason=reason)


def _owners(builds_on: list[Plan]) -> dict[str, tuple[Plan, Entry]]:
    """Find the package that ships each path. Raises ToolError if two packages that are installed together ship one."""
    owners: dict[str, tuple[Plan, Entry]] = {}
    for plan in builds_on:
        for entry in plan.entries:
            if not (entry.is_packed_file or entry.treatment in OTHER_NAMES):
                continue
            other, known = owners.setdefault(entry.path, (plan, entry))
            if other is plan or not (known.is_packed_file and entry.is_packed_file):
                if entry.is_packed_file:
                    owners[entry.path] = (plan, entry)
                continue
            if other.tree == plan.tree or not (other.per_target and plan.per_target):
                raise ToolError(
                    f"{entry.path}: package {other.package} has it from {known.source}, and package {plan.package} "
                    f"from {entry.source}; expected one owner. Exclude it from one of the packages"
                )
            if known.treatment is Treatment.FORWARDER:  # Of packages per GPU target, one may have a file there.
                owners[entry.path] = (plan, entry)
    return owners


def _leads_to_directory(found: Found, prefix: Prefix) -> bool:
    """Whether this is a link to a directory, which no runtime package has, whatever its name says."""
    resolved = prefix.resolve(found.path)
    return bool(resolved and resolved.node.kind is Kind.DIRECTORY)


def plan_devel(definition: Definition, prefix: Prefix, builds_on: list[Plan]) -> Planned:
    """Plan the devel package."""
    owners = _owners(builds_on)
    tree = _Tree(definition, prefix, owners)
    for_targets = {
        entry.path for plan in builds_on for entry in plan.entries if entry.treatment is Treatment.OTHER_TARGET
    }
    parents = {posixpath.dirname(path) for path in prefix.merged}
    entries = []
    for path, found in sorted(prefix.merged.items()):
        if found.kind is Kind.DIRECTORY and path in parents:
            continue
        if reason := left_out(path, definition):
            entries.append(entry_of(found, Treatment.DROP, reason))
            continue
        if path in for_targets and path not in owners and not _leads_to_directory(found, prefix):
            entries.append(entry_of(found, Treatment.DROP, "for a GPU target that no package is for"))
            continue
        entry = _owned(found, *owners[path], tree) if path in owners else None
        entries.append(entry or _own(found, definition, prefix))
    planned = _tree_as_planned(entries, tree)
    entries = [
        _led(one, planned, tree) if one.reason == KEPT_LINK and not planned.resolve(one.path) else one
        for one in entries
    ]
    return Planned([replace(one, type=None) if one.treatment is Treatment.LINK_TO else one for one in entries])
