"""Decides what becomes of every entry of a package.

The plan is small and readable; it holds no bulk data. Beside it one edit file per pack
unit is written, with only what that unit's pack action needs to know: so a new header or
a changed fact elsewhere leaves it as it was, and Bazel packs nothing again.
"""

import posixpath
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from lib.common.arguments import run_program
from lib.common.manifest import read_manifest
from lib.common.program import ToolError, named, note, read_document, write_document
from lib.plan.edits import Edit, Edits
from lib.plan.model import (
    DANGLES,
    MADE,
    PROGRAM,
    SCRIPT,
    WINDOWS,
    Artifact,
    Definition,
    Entry,
    Facts,
    Found,
    Kind,
    Plan,
    Treatment,
    matches,
)
from lib.plan.windows_names import check_windows_names
from tools.actions.plan.devel import plan_devel
from tools.actions.plan.prefix import Prefix, merge
from tools.actions.plan.rpath import check_searched, with_rpaths
from tools.actions.plan.runtime import left_out, plan_runtime

PLANNERS = {"runtime": plan_runtime, "devel": plan_devel}


def read_facts(paths: list[str], platform: str = "linux") -> dict[str, Facts]:
    """Read the facts of all units, by source, as they are for packages of a platform."""
    facts = {}
    for path in paths:
        document = read_document(path)
        for source, values in document["files"].items():
            facts[source] = Facts.from_document(document["unit"], values, platform)
    return facts


def read_artifact(path: str, facts: dict[str, Facts]) -> Artifact:
    """Read an artifact's manifest and join the facts to its entries."""
    manifest = read_manifest(path)
    found = []
    for entry in manifest.entries:
        source = f"{manifest.artifact}/{entry.base}/{entry.path}"
        found.append(
            Found(
                path=entry.path,
                kind=Kind(entry.kind),
                source=source,
                mode=entry.mode or _default_mode(entry.kind, facts.get(source)),
                link=entry.target,
                facts=facts.get(source),
            )
        )
    return Artifact(manifest.artifact, tuple(found))


def _default_mode(kind: str, facts: Facts | None) -> str:
    """Return the mode of an entry whose manifest gives none: Bazel does not keep the executable bit of inputs."""
    if kind == Kind.LINK.value:
        return "0777"
    return "0755" if facts and facts.type in (PROGRAM, SCRIPT) else "0644"


def _edit(entry: Entry) -> Edit:
    if entry.treatment in MADE:
        made, machine = entry.treatment.value, entry.machine or None
        return Edit(entry.path, entry.mode, made, entry.target, machine, entry.subsystem, entry.versions)
    copied = {name: getattr(entry, name) for name in ("source", "rpath", "slice", "absent")}
    return Edit(entry.path, entry.mode, **copied)


def edits_by_unit(plan: Plan, facts: dict[str, Facts], unit_of_artifact: dict[str, str]) -> dict[str, Edits]:
    """Return what each pack unit has to do: entries to pack, and sources to digest for comparison.

    What pack makes has no bulk source; the unit of the small files of the artifact that had
    the link makes it. So a rule about them packs no big file again.
    """
    entries: dict[str, list[Edit]] = {}
    digests: dict[str, list[str]] = {}
    for entry in plan.entries:
        if entry.is_packed_file:
            artifact = entry.source.split("/")[0]
            unit = unit_of_artifact[artifact] if entry.treatment in MADE else facts[entry.source].unit
            entries.setdefault(unit, []).append(_edit(entry))
    for source in sorted({source for pair in plan.equal_sources for source in pair}):
        digests.setdefault(facts[source].unit, []).append(source)
    return {
        unit: Edits(tuple(entries.get(unit, ())), tuple(digests.get(unit, ()))) for unit in entries.keys() | digests
    }


def check_packed(plan: Plan, edits: Mapping[str, Edits], packed: Container[str]) -> None:
    """Prove that every unit with something to pack is packed; raises ToolError naming the file and what to declare."""
    for unit in sorted(unit for unit in edits if unit not in packed):
        source = [*(entry.path for entry in edits[unit].entries), *edits[unit].digest][0]
        raise ToolError(
            f"{source}: package {plan.package} must contain this big file of artifact {unit.split('/')[0]} itself. "
            "Expected a link to the file in a package that it builds on, but that package leaves the file out. "
            "Name the artifact in `repacked`, or exclude the file here as well"
        )


def why_empty(plan: Plan, artifacts: list[Artifact]) -> str | None:
    """Return why a package has no file of the SDK; None if it has one."""
    if any(entry.is_packed_file or entry.treatment is Treatment.LINK_TO for entry in plan.entries):
        return None
    if not artifacts:
        return "is made from no artifact"
    return "holds no file of its artifacts: they are empty, or its patterns leave all of them out"


def check_not_empty(definition: Definition, plan: Plan, artifacts: list[Artifact]) -> None:
    """Raise ToolError for a package without a file of the SDK, unless it may be empty."""
    if (why := why_empty(plan, artifacts)) and not definition.allow_empty:
        raise ToolError(
            f"package {plan.package} {why}; expected a file of the SDK. Correct `artifacts`, `include` and `exclude`, "
            "or leave the package out. If it may be empty, set `allow_empty`"
        )


def check_patterns(definition: Definition, artifacts: list[Artifact]) -> None:
    """Raise ToolError for patterns that match no path of the artifacts, unless they may."""
    found = [one for artifact in artifacts for one in artifact.found]
    parents = {posixpath.dirname(one.path) for one in found}
    paths = {one.path for one in found if one.kind is not Kind.DIRECTORY or one.path not in parents}
    unmatched = [
        f"{pattern!r} of `{attribute}`"
        for attribute, patterns in (("include", definition.include), ("exclude", definition.exclude))
        for pattern in patterns
        if pattern not in definition.allow_unmatched and not any(matches(path, (pattern,)) for path in paths)
    ]
    if unmatched and artifacts:
        raise ToolError(
            f"package {definition.package}: no path of its artifacts matches {', '.join(unmatched)}; expected a file, "
            "a link or an empty directory. Correct the pattern or remove it. If it may match nothing, name it in "
            "`allow_unmatched`, too"
        )


def make_plan(definition: Definition, artifacts: list[Artifact], builds_on: list[Plan]) -> Plan:
    """Plans a package: the pure function behind the tool."""
    if definition.kind not in PLANNERS:
        raise ToolError(f"package kind {definition.kind!r}: expected one of {', '.join(sorted(PLANNERS))}")
    check_searched(definition.package, definition.rpath, [definition.tree, *(plan.tree for plan in builds_on)])
    merged, equal = merge(artifacts, lambda path: left_out(path, definition))
    planned = PLANNERS[definition.kind](definition, Prefix(merged, builds_on, equal), builds_on)
    facts = {found.source: found.facts for found in merged.values() if found.facts}
    entries = with_rpaths(planned.entries, facts, definition, builds_on)
    if definition.platform == WINDOWS:
        check_windows_names(entries, definition.tree, definition.package, builds_on)
    used = {entry.source for entry in entries if entry.treatment is not Treatment.DROP}
    compared = {frozenset(pair) for plan in builds_on for pair in plan.equal_sources}
    return Plan(
        package=definition.package,
        tree=definition.tree,
        per_target=definition.per_target,
        entries=tuple(entries),
        equal_sources=tuple(
            pair for pair in [*equal, *planned.equal_sources] if pair[0] in used and frozenset(pair) not in compared
        ),
        target_trees=tuple(sorted({one.tree for one in builds_on if one.per_target and definition.kind == "devel"})),
    )


def notes(plan: Plan, artifacts: list[Artifact], builds_on: list[Plan], output: str) -> Iterator[str]:
    """Yield what a plan does that may be a mistake, and that real SDKs have: a line each, for people.

    What a package below has noted is not said again.
    """
    said = {one.path for below in builds_on for one in below.entries if one.reason.startswith(DANGLES)}
    links = [one for one in plan.entries if one.reason.startswith(DANGLES) and one.path not in said]
    if dangling := [f"{one.path} -> {one.link}" for one in links]:
        yield (
            f"package {plan.package} leaves out {len(dangling)} links that lead nowhere: {named(dangling)}. Exclude "
            f"them, or add what they lead to; {output} has all, as `{DANGLES}`"
        )
    if why := why_empty(plan, artifacts):
        yield f"package {plan.package} {why}, so its wheel holds no file of the SDK"


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    definition: str  #: What the BUILD file says about the package.
    manifest: list[str]  #: Artifacts' manifests.
    facts: list[str]  #: What inspect found, by unit.
    builds_on: list[str]  #: Plans of packages that this one builds on.
    output: str  #: The plan to write.
    edit: dict[str, str]  #: Edit files to write, by the units that are packed.
    launchers: dict[str, str]  #: Units that make launchers and forwarders, by artifact.


def write(args: Arguments) -> None:
    """Read the inputs, plan, and write the plan and the edit files."""
    definition = Definition.from_document(read_document(args.definition))
    facts = read_facts(args.facts, definition.platform)
    artifacts = [read_artifact(path, facts) for path in args.manifest]
    builds_on = [Plan.from_document(read_document(path)) for path in args.builds_on]
    check_patterns(definition, artifacts)
    plan = make_plan(definition, artifacts, builds_on)
    check_not_empty(definition, plan, artifacts)
    edits = edits_by_unit(plan, facts, args.launchers)
    check_packed(plan, edits, args.edit)
    write_document(args.output, plan.to_document())
    for unit, path in args.edit.items():
        write_document(path, edits.get(unit, Edits()).to_document())
    for text in notes(plan, artifacts, builds_on, args.output):
        note(args.label, text)


def main(argv: list[str]) -> int:
    """Plan the package."""
    return run_program(Arguments, argv, write)
