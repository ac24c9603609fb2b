"""The plan of a runtime package: a tree that a wheel can hold, so one without links.

A pure function of the merged prefix and the facts: each entry gets a treatment and the
reason for it. The rules are in docs/reference/packages.md, "What happens to a file".
"""

import posixpath
from dataclasses import replace

from lib.common.program import ToolError, directories_above
from lib.plan.model import (
    COPIES,
    DANGLES,
    LAUNCHED,
    LIBRARY,
    PE_LIBRARY,
    PE_PROGRAM,
    PROGRAM,
    SCRIPT,
    WINDOWS,
    Definition,
    Entry,
    Facts,
    Found,
    Kind,
    Plan,
    Planned,
    Treatment,
    matches,
)
from tools.actions.plan.forwarders import forwarders, needed_names
from tools.actions.plan.prefix import Prefix, Resolved
from tools.actions.plan.slicing import RefusedError, check_name, other_code, other_target, refusal, sliced


def entry_of(found: Found, treatment: Treatment, reason: str, target: str | None = None) -> Entry:
    """Return the entry for what an artifact has at a path."""
    return Entry(
        found.path, found.kind, treatment, reason, found.source, mode=found.mode, link=found.link, target=target
    )


def readable(found: Found, facts: Facts | None, definition: Definition) -> Facts:
    """Return the facts of the file that a package packs at a path; raises ToolError if it cannot be read."""
    if facts is None:
        raise ToolError(f"{found.source}: no facts about this file; expected `inspect` to have read it")
    if facts.damage:
        is_binary = facts.type.endswith("-damaged")
        cause = "The file is damaged or cut off: build the artifact again" if is_binary else "Put the file there"
        raise ToolError(f"{facts.damage}. {cause}, or exclude {found.path} from package {definition.package}")
    return facts


def with_facts(entry: Entry, facts: Facts, definition: Definition) -> Entry:
    """Say what the bytes of an entry are, and which device code the package keeps; PATCH if that changes the file."""
    entry = replace(entry, type=facts.type, soname=facts.soname)
    if facts.type in (PE_LIBRARY, PE_PROGRAM):
        return replace(entry, machine=facts.machine or None, subsystem=facts.subsystem or None)
    if definition.slice:
        entry = sliced(entry, facts, definition.slice)
        if entry.slice and entry.treatment is Treatment.KEEP:
            entry = replace(entry, treatment=Treatment.PATCH)
    return replace(entry, machine=facts.machine or None) if facts.type in (LIBRARY, PROGRAM) else entry


def _packed_under_soname(path: str, definition: Definition, prefix: Prefix) -> Found | None:
    """Return the library that this package packs at `path`, whose name is its SONAME; None if it packs no such one."""
    if prefix.own(path) is None or _unwanted(path, definition):
        return None
    resolved = prefix.resolve(path)
    facts = resolved.facts if resolved else None
    if not resolved or not facts or (facts.type, facts.soname) != (LIBRARY, posixpath.basename(path)):
        return None
    return resolved.node.found


def _is_same(one: Found, other: Found) -> bool:
    """Whether two libraries are one file, or agree in all that shows without reading them: link compares the rest."""
    return one.source == other.source or bool(
        one.facts and other.facts and replace(one.facts, unit="") == replace(other.facts, unit="")
    )


def _has_library(path: str, library: Found, definition: Definition, prefix: Prefix) -> bool:
    """Whether this package, or a package that it builds on, packs the bytes of a library at `path`, its SONAME's."""
    if own := _packed_under_soname(path, definition, prefix):
        return _is_same(own, library)
    shipped = prefix.shipped(path)
    return bool(shipped and shipped.treatment in COPIES and prefix.is_same(shipped.source, library.source))


def _file(found: Found, facts: Facts, definition: Definition, prefix: Prefix) -> Entry:
    name = posixpath.basename(found.path)
    if facts.type == LIBRARY and facts.soname and facts.soname != name:
        soname_path = posixpath.join(posixpath.dirname(found.path), facts.soname)
        if _has_library(soname_path, found, definition, prefix):
            reason = f"library whose name is not its SONAME, {facts.soname}"
            return replace(
                entry_of(found, Treatment.ALIAS_OF, reason), target=facts.soname, type=facts.type, soname=facts.soname
            )
        taken = _packed_under_soname(soname_path, definition, prefix) or prefix.shipped(soname_path)
        words = "another library than the one" if taken else "library that nothing provides"
        reason = f"{words} under its SONAME, {facts.soname}"
        return with_facts(entry_of(found, Treatment.KEEP, reason), facts, definition)
    reason = "library under its SONAME" if facts.type == LIBRARY and facts.soname else f"regular file ({facts.type})"
    return with_facts(entry_of(found, Treatment.KEEP, reason), facts, definition)


def _mode(resolved: Resolved) -> str:
    """Return the permission bits of what a link leads to, octal."""
    here = resolved.node.found or resolved.node.entry
    return here.mode if here else "0"


def _is_executable(resolved: Resolved, facts: Facts, definition: Definition) -> bool:
    """Whether a launcher can start what a link leads to: on Windows a program, elsewhere also a script."""
    if definition.platform == WINDOWS:
        return facts.type == PE_PROGRAM and facts.machine in LAUNCHED
    if facts.type == PROGRAM:
        return not facts.machine or facts.machine in LAUNCHED
    return facts.type == SCRIPT and bool(int(_mode(resolved), 8) & 0o111)


def _launcher(found: Found, resolved: Resolved, facts: Facts, definition: Definition) -> Entry:
    tree = resolved.node.plan.tree if resolved.node.plan else definition.tree
    here = posixpath.join(definition.tree, posixpath.dirname(found.path))
    target = posixpath.relpath(posixpath.join(tree, resolved.path), here)
    entry = entry_of(found, Treatment.LAUNCHER, f"link to an executable ({facts.type})")
    return replace(entry, mode="0755", target=target, machine=facts.machine or None, subsystem=facts.subsystem or None)


def _facts(resolved: Resolved) -> Facts:
    """Return the facts of the file that a link leads to, in this package or one it builds on."""
    if resolved.facts:
        return resolved.facts
    entry = resolved.node.entry
    if entry is None:
        return Facts(unit="", size=0, type="data")
    return Facts(
        unit="",
        size=0,
        type=entry.type or "data",
        soname=entry.soname,
        machine=entry.machine or 0,
        subsystem=entry.subsystem or 0,
    )


def _packaged(resolved: Resolved, facts: Facts, definition: Definition, prefix: Prefix) -> str | None:
    """Return the path at which a library is packed that links lead to; None if no package ships it."""
    under_soname = posixpath.join(posixpath.dirname(resolved.path), facts.soname or "")
    if library := resolved.node.found:
        if _has_library(under_soname, library, definition, prefix):
            return under_soname
        return None if _unwanted(resolved.path, definition) else resolved.path
    return next((path for path in (resolved.path, under_soname) if prefix.shipped(path)), None)


def _alias(found: Found, resolved: Resolved, facts: Facts, definition: Definition, prefix: Prefix) -> Entry:
    """Return the entry for a link to a library that is packed under another path: its SONAME's, if possible."""
    packaged = _packaged(resolved, facts, definition, prefix)
    if packaged is None:
        target = posixpath.relpath(resolved.path, posixpath.dirname(found.path) or ".")
        dropped = entry_of(found, Treatment.DROP, f"link to {target}, which no package ships")
        return replace(dropped, type=facts.type)
    reason = f"link to a library under another name than its SONAME, {facts.soname}"
    if facts.soname == posixpath.basename(found.path):
        reason = "link to a library that another package has"
    target = posixpath.relpath(packaged, posixpath.dirname(found.path) or ".")
    return replace(entry_of(found, Treatment.ALIAS_OF, reason), target=target, type=facts.type, soname=facts.soname)


def _link(found: Found, definition: Definition, prefix: Prefix) -> Entry:
    resolved = prefix.resolve(found.path)
    if resolved is None:
        return entry_of(found, Treatment.DROP, f"{DANGLES}: {found.link}")
    if resolved.node.kind is Kind.DIRECTORY:
        return entry_of(found, Treatment.DROP, "link to a directory, which a wheel cannot hold")
    if reason := _others(resolved.node.found, definition):
        return entry_of(found, Treatment.OTHER_TARGET, f"link to {resolved.path}, {reason}")
    facts = readable(found, _facts(resolved), definition)
    name = posixpath.basename(found.path)
    if facts.type == LIBRARY and facts.soname and (facts.soname != name or not resolved.node.found):
        return _alias(found, resolved, facts, definition, prefix)
    # Python does not run a module that it imports: under that name a launcher is not a module.
    is_module = name.endswith(".py") and resolved.node.found
    if _is_executable(resolved, facts, definition) and not is_module:
        return _launcher(found, resolved, facts, definition)
    if not resolved.node.found:
        owner = resolved.node.plan.package if resolved.node.plan else "another package"
        raise ToolError(
            f"{found.source}: the link leads to {resolved.path}, which package {owner} holds; expected a target whose "
            f"content can be copied. Exclude {found.path} from the package, or add the artifact of its target"
        )
    is_soname = facts.type == LIBRARY and facts.soname == name
    reason = "link whose name is the library's SONAME" if is_soname else f"link to a file ({facts.type})"
    copy = entry_of(found, Treatment.COPY_OF_LINK, reason)
    copy = replace(copy, source=resolved.node.found.source, mode=resolved.node.found.mode)
    return with_facts(copy, facts, definition)


def left_out(path: str, definition: Definition) -> str | None:
    """Return why the definition's patterns keep a path out of the package; None if they do not."""
    if definition.include and not matches(path, definition.include):
        return "not among the paths of this package"
    pattern = matches(path, definition.exclude)
    return f"excluded by {pattern}" if pattern else None


def _unwanted(path: str, definition: Definition) -> bool:
    """Whether a package leaves a path out: by its patterns, or because the path names another GPU target."""
    return bool(left_out(path, definition) or (definition.slice and other_target(path, definition.slice)))


def _others(found: Found | None, definition: Definition) -> str | None:
    """Return why a file is for other GPU targets than the package, by its name or its code; None if it is not."""
    if not found or not definition.slice:
        return None
    return other_target(found.path, definition.slice) or other_code(found, definition.slice)


def _treat(found: Found, definition: Definition, prefix: Prefix) -> Entry:
    if reason := left_out(found.path, definition):
        return entry_of(found, Treatment.DROP, reason)
    if found.kind is Kind.DIRECTORY:
        return entry_of(found, Treatment.DROP, "empty directory, which a wheel cannot hold")
    if definition.slice:
        check_name(found, definition.slice)
        if reason := other_target(found.path, definition.slice):
            return entry_of(found, Treatment.OTHER_TARGET, reason)
    if found.kind is Kind.LINK:
        return _link(found, definition, prefix)
    facts = readable(found, found.facts, definition)
    if definition.slice and (reason := other_code(found, definition.slice)):
        return entry_of(found, Treatment.OTHER_TARGET, reason)
    return _file(found, facts, definition, prefix)


def _check_started(launcher: Entry, started: Entry, definition: Definition) -> None:
    """Raise ToolError for a launcher of a program that is not executable."""
    if definition.platform != WINDOWS and not int(started.mode, 8) & 0o111:
        raise ToolError(
            f"{launcher.source}: the link leads to the program {started.path}, which is not executable (mode "
            f"{started.mode}); expected mode 0755, for a launcher has to start it. Set the mode in the artifact, or "
            f"exclude {launcher.path} from package {definition.package}"
        )


def _launchers_that_reach(entries: list[Entry], definition: Definition, builds_on: list[Plan]) -> list[Entry]:
    """Drop launchers whose target no package ships: it may be excluded. Raises ToolError if a launcher cannot start."""
    # The package's own come last: of a path that another has in the same tree, too, `check_owners` speaks.
    trees = [*((plan.tree, plan.entries) for plan in builds_on), (definition.tree, entries)]
    shipped = {posixpath.join(tree, one.path): one for tree, those in trees for one in those if one.is_packed_file}
    result = []
    for entry in entries:
        if entry.treatment is Treatment.LAUNCHER and entry.target:
            here = posixpath.join(definition.tree, posixpath.dirname(entry.path))
            if started := shipped.get(posixpath.normpath(posixpath.join(here, entry.target))):
                _check_started(entry, started, definition)
            else:
                entry = replace(
                    entry,
                    treatment=Treatment.DROP,
                    reason=f"link to {entry.target}, which no package ships",
                    target=None,
                )
        result.append(entry)
    return result


def _launchers_with_machine(entries: list[Entry], builds_on: list[Plan]) -> list[Entry]:
    """Give launchers of scripts the CPU of the package's ELF files, else of those that it builds on, if it is one."""
    own = {entry.machine for entry in entries if entry.treatment in COPIES}
    below = {entry.machine for plan in builds_on for entry in plan.entries}
    machines = own & LAUNCHED or below & LAUNCHED
    if len(machines) != 1:
        return entries
    (machine,) = machines
    return [
        replace(entry, machine=machine) if entry.treatment is Treatment.LAUNCHER and not entry.machine else entry
        for entry in entries
    ]


def check_owners(entries: list[Entry], definition: Definition, builds_on: list[Plan]) -> None:
    """Raise ToolError when a package that this one builds on ships the same path, or a file for a directory."""
    owners = {entry.path: (plan, entry) for plan in builds_on for entry in plan.entries if entry.is_packed_file}
    beside = {path: one for path, one in owners.items() if one[0].tree == definition.tree}
    directories = {above: one for path, one in beside.items() for above in directories_above(path)}
    for entry in entries:
        if not entry.is_packed_file:
            continue
        files = (beside[above] for above in directories_above(entry.path) if above in beside)
        clash = owners.get(entry.path) or directories.get(entry.path) or next(files, None)
        if clash:
            owner, owned = clash
            has = "this path already" if owned.path == entry.path else f"{owned.path}, and a file is no directory"
            remedy = f"Exclude it from {definition.package}, or remove it from one of the artifacts"
            if owned.treatment is Treatment.FORWARDER:
                remedy = f"Exclude it from {owner.package}, which has a forwarder to {owned.target} there"
            raise ToolError(
                f"{entry.path}: from {entry.source}, but package {owner.package} has {has}; expected one owner. "
                f"{remedy}"
            )


def _with_forwarders(
    entries: list[Entry], definition: Definition, merged: dict[str, Found], builds_on: list[Plan]
) -> list[Entry]:
    """Add the forwarders that the package needs, instead of what the artifacts have at their paths."""
    facts = {found.source: found.facts for found in merged.values() if found.facts}
    made = forwarders(entries, facts, builds_on)
    wanted = {entry.path: entry for entry in made if not left_out(entry.path, definition)}
    whole = sorted([*(entry for entry in entries if entry.path not in wanted), *wanted.values()], key=lambda e: e.path)
    _check_needed(whole, facts, builds_on)
    return whole


def _check_needed(entries: list[Entry], facts: dict[str, Facts], builds_on: list[Plan]) -> None:
    """Raise ToolError if a file needs a library by a name that the artifacts have, and no package ships."""
    known = [*entries, *(entry for plan in builds_on for entry in plan.entries)]
    shipped = {posixpath.basename(entry.path) for entry in known if entry.is_packed_file}
    dropped = {posixpath.basename(entry.path): entry for entry in known if entry.treatment is Treatment.ALIAS_OF}
    for name, path in needed_names(entries, facts).items():
        if name in dropped and name not in shipped:
            library = dropped[name]
            raise ToolError(
                f"{path}: needs {name}, but the packages have the library under its SONAME alone, {library.target}: "
                f"{library.source} is a link, which a wheel cannot hold. Expected the SONAME; link {path} with a "
                f"library whose SONAME is {name}, or have both files in one directory of one package, where {name} is "
                "forwarded"
            )


def _stand_ins(entries: list[Entry]) -> list[tuple[str, str]]:
    """Return the sources of libraries that are left out because another file is the same one: (packed, left out)."""
    packed = {entry.path: entry.source for entry in entries if entry.is_packed_file}
    aliases = [entry for entry in entries if entry.treatment is Treatment.ALIAS_OF and entry.kind is Kind.FILE]
    names = [(posixpath.join(posixpath.dirname(entry.path), entry.target or ""), entry.source) for entry in aliases]
    return [(packed[path], source) for path, source in names if packed.get(path, source) != source]


def plan_runtime(definition: Definition, prefix: Prefix, builds_on: list[Plan]) -> Planned:
    """Plan a runtime package."""
    merged = prefix.merged
    parents = {posixpath.dirname(path) for path in merged}
    entries, refused = [], []
    for path, found in sorted(merged.items()):
        if not (found.kind is Kind.DIRECTORY and path in parents):
            try:
                entries.append(_treat(found, definition, prefix))
            except RefusedError as one:
                refused.append(one)
    if definition.slice and refused:
        raise refusal(refused, definition.slice)
    equal_sources = _stand_ins(entries)
    entries = _launchers_that_reach(entries, definition, builds_on)
    entries = _launchers_with_machine(entries, builds_on)
    entries = _with_forwarders(entries, definition, merged, builds_on)
    check_owners(entries, definition, builds_on)
    return Planned(entries, equal_sources)
