"""The actions that plan and pack a package, or several from the same artifacts; each is a member."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/common:placements.bzl", "check_path")
load("//rules/private/common:platform.bzl", "WINDOWS_ATTRS", "is_for_windows")
load("//rules/private/common:providers.bzl", "ArtifactInfo", "PackageInfo")
load("//rules/private/common:units.bzl", "artifact_id")
load("//rules/private/common:version_suffix.bzl", "VERSION_SUFFIX_ATTRS", "with_suffix")
load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules/..."])

PACKAGE_ATTRS = {
    "allow_empty": attr.bool(doc = "Whether the package may be without a file of its artifacts, because users build with a part of the SDK. The build then prints a note instead of an error."),
    "allow_unmatched": attr.string_list(doc = "Patterns of `include` and `exclude`, and directories of `rpath`, for which there may be no file. Any other without a file stops the build."),
    "artifacts": attr.label_list(providers = [ArtifactInfo], doc = "Artifacts that the package is made from."),
    "builds_on": attr.label_list(providers = [PackageInfo], doc = "Packages that are installed with this one. Links and RPATHs may lead into them."),
    "exclude": attr.string_list(doc = "Glob patterns of paths to leave out; `**` matches any directories."),
    "include": attr.string_list(doc = "Glob patterns. If given, the package contains only matching paths."),
    "_compression": attr.label(default = "//rules/settings:compression"),
    "_launcher": attr.label(default = "//tools/actions/launcher", executable = True, cfg = "target"),
    "_pack": tool_attr("//tools/actions:pack_tool"),
    "_plan": tool_attr("//tools/actions:plan_tool"),
} | VERSION_SUFFIX_ATTRS | WINDOWS_ATTRS

def member(ctx, name, package, tree, rpath, kind = "runtime", per_target = False, slice = None):
    """Makes the record of a package, and writes its definition.

    Args:
        ctx: context of a rule with PACKAGE_ATTRS.
        name: what the names of all its files begin with.
        package: its name in plans, errors and progress.
        tree: directory in site-packages; `{suffix}` stands for the version suffix.
        rpath: directories that the loader searches, as `tree/path`.
        kind: `runtime` or `devel`.
        per_target: whether users have one of several such packages, by GPU target.
        slice: dict, for which GPU targets the package is, if it is not for all that its artifacts have code for.

    Returns:
        struct.
    """
    tree = with_suffix(ctx, tree)
    check_path(ctx.label, tree, "tree")
    may_be_missing = [final for given, final in zip(ctx.attr.rpath, rpath) if given in ctx.attr.allow_unmatched]
    definition = ctx.actions.declare_file(name + ".definition.json")
    ctx.actions.write(definition, json.encode({
        "allow_empty": ctx.attr.allow_empty,
        "allow_unmatched": ctx.attr.allow_unmatched + [with_suffix(ctx, directory) for directory in may_be_missing],
        "exclude": ctx.attr.exclude,
        "include": ctx.attr.include,
        "kind": kind,
        "package": package,
        "per_target": per_target,
        "rpath": [with_suffix(ctx, directory) for directory in rpath],
        "tree": tree,
    } | ({"platform": "windows"} if is_for_windows(ctx) else {}) | ({"slice": slice} if slice else {})))
    return struct(name = name, definition = definition, kind = kind, package = package, tree = tree)

def _plan(ctx, member, artifacts, edits, checked):
    """Declares the plan action; `edits` maps each unit that is packed to the edit file that pack reads."""
    plan = ctx.actions.declare_file(member.name + ".plan.json")
    run_tool(
        ctx,
        tool = ctx.attr._plan,
        inputs = {
            "builds_on": [package[PackageInfo].plan for package in ctx.attr.builds_on],
            "definition": member.definition,
            "facts": [unit.facts for artifact in artifacts for unit in artifact.units],
            "manifest": [artifact.manifest for artifact in artifacts],
        },
        values = {"launchers": {artifact_id(artifact): artifact.units[0].id for artifact in artifacts}},
        others = checked,
        outputs = dict(output = plan, edit = edits),
        mnemonic = "RocmPlan",
        in_worker = True,
        progress_message = "Planning package " + member.package,
    )
    return plan

def _pack(ctx, artifact, unit, edits, segments, indexes):
    """Declares the pack action of one unit, for all packages; each list has one file per package."""
    name = unit.id.rpartition("/")[2] if unit.is_big_file else unit.id
    run_tool(
        ctx,
        tool = ctx.attr._pack,
        inputs = {
            "edits": edits,
            "launcher": None if unit.is_big_file else ctx.executable._launcher,
            "manifest": unit.manifest,
        },
        values = {
            "artifact": artifact_id(artifact),
            "compression": ctx.attr._compression[BuildSettingInfo].value,
            "threads": unit.threads,
        },
        located = unit.files,
        outputs = dict(segment = segments, index = indexes),
        mnemonic = "RocmPack",
        in_worker = True,
        progress_message = "Packing {}: {}".format(ctx.label.name, name),
        threads = unit.threads,
    )

def _files(ctx, members, units, pattern):
    """Declares a file for each member and unit; returns a dict of lists, by unit and in the members' order."""
    return {unit.id: [ctx.actions.declare_file(pattern.format(member = member.name, unit = unit.id)) for member in members] for _, unit in units}

def _check_artifacts(ctx):
    """Fails for duplicate artifact names, which plans and outputs use."""
    found = {}
    for artifact in ctx.attr.artifacts:
        identity = artifact_id(artifact[ArtifactInfo])
        if identity in found:
            fail("{}: artifacts: {} and {} are both {}; expected distinct names. Change artifact_name, component or target of one".format(shown(ctx.label), shown(found[identity]), shown(artifact.label), identity))
        found[identity] = artifact.label

def _check_patterns(ctx):
    """Fails for a pattern or directory of `allow_unmatched` that the package does not have."""
    for pattern in ctx.attr.allow_unmatched:
        if pattern not in ctx.attr.include + ctx.attr.exclude + ctx.attr.rpath:
            fail("{}: allow_unmatched: {} is in none of `include`, `exclude` and `rpath`; expected one of their patterns or directories. Remove it".format(shown(ctx.label), repr(pattern)))

def package_infos(ctx, members, units, checked = []):
    """Declares the plan and pack actions of packages that are made from the same artifacts.

    Args:
        ctx: context of a rule with PACKAGE_ATTRS.
        members: list of `member`.
        units: list of (ArtifactInfo, unit): what is packed.
        checked: list of File that are written where checks succeed: nothing is planned before.

    Returns:
        list of PackageInfo, one for each member.
    """
    _check_artifacts(ctx)
    _check_patterns(ctx)
    artifacts = [artifact[ArtifactInfo] for artifact in ctx.attr.artifacts]
    edits = _files(ctx, members, units, "{member}.edits/{unit}.json")
    segments = _files(ctx, members, units, "{member}.segments/{unit}.seg")
    indexes = _files(ctx, members, units, "{member}.segments/{unit}.json")
    for artifact, unit in units:
        _pack(ctx, artifact, unit, edits[unit.id], segments[unit.id], indexes[unit.id])
    return [
        PackageInfo(
            archives = {artifact_id(artifact): artifact.archive_sha256 for artifact in artifacts if artifact.archive_sha256},
            big_files = [unit.id for _, unit in units if unit.is_big_file],
            builds_on = [package[PackageInfo].plan for package in ctx.attr.builds_on],
            definition = struct(package = member.package, kind = member.kind, tree = member.tree),
            facts = depset([unit.facts for artifact in artifacts for unit in artifact.units]),
            indexes = depset([indexes[unit.id][at] for _, unit in units]),
            plan = _plan(ctx, member, artifacts, {unit.id: edits[unit.id][at] for _, unit in units}, checked),
            segments = depset([segments[unit.id][at] for _, unit in units]),
        )
        for at, member in enumerate(members)
    ]

def all_units(ctx):
    """Returns all units of the artifacts, as (ArtifactInfo, unit)."""
    return [(artifact[ArtifactInfo], unit) for artifact in ctx.attr.artifacts for unit in artifact[ArtifactInfo].units]
