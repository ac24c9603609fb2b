"""rocm_package: plans one Python distribution and packs its entries."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private:version_suffix.bzl", "VERSION_SUFFIX_ATTRS", "with_suffix")
load("//rules/private/common:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load("//rules/private/common:units.bzl", "artifact_id", "located_file")
load("//rules/private/providers:artifact_info.bzl", "ArtifactInfo")
load("//rules/private/providers:package_info.bzl", "PackageInfo")

visibility(["//rules"])

def _definition(ctx):
    definition = ctx.actions.declare_file(ctx.label.name + ".definition.json")
    ctx.actions.write(definition, json.encode({
        "exclude": ctx.attr.exclude,
        "include": ctx.attr.include,
        "kind": ctx.attr.kind,
        "package": ctx.attr.package,
        "per_target": ctx.attr.per_target,
        "rpath": [with_suffix(ctx, directory) for directory in ctx.attr.rpath],
        "tree": with_suffix(ctx, ctx.attr.tree),
    }))
    return definition

def _packed_units(ctx):
    """Returns the (ArtifactInfo, unit) pairs that this package packs.

    A devel package links to the big files of the packages that it builds on. Actions to find that out once per file would
    bring each of them to a remote worker for nothing; so it is taken as given, and proven by the plan.
    """
    linked = {}
    if ctx.attr.kind == "devel":
        linked = {unit: True for package in ctx.attr.builds_on for unit in package[PackageInfo].big_files}
    repacked = {artifact.label: True for artifact in ctx.attr.repacked}
    return [
        (artifact[ArtifactInfo], unit)
        for artifact in ctx.attr.artifacts
        for unit in artifact[ArtifactInfo].units
        if unit.id not in linked or artifact.label in repacked
    ]

def _plan(ctx, artifacts, edits):
    """Declares the plan action; `edits` maps each unit that is packed to the edit file that pack reads."""
    plan = ctx.actions.declare_file(ctx.label.name + ".plan.json")
    definition = _definition(ctx)
    manifests = [artifact.manifest for artifact in artifacts]
    facts = [unit.facts for artifact in artifacts for unit in artifact.units]
    builds_on = [package[PackageInfo].plan for package in ctx.attr.builds_on]
    args = tool_args(ctx)
    args.add(definition, format = "--definition=%s")
    args.add_all(manifests, format_each = "--manifest=%s")
    args.add_all(facts, format_each = "--facts=%s")
    args.add_all(builds_on, format_each = "--builds-on=%s")
    args.add(plan, format = "--output=%s")
    for unit, edit in edits.items():
        args.add("--edit={}={}".format(unit, edit.path))
    args.add_all(["--launchers={}={}".format(artifact_id(artifact), artifact.units[0].id) for artifact in artifacts])
    run_tool(
        ctx,
        tool = ctx.attr._plan,
        args = args,
        inputs = [definition] + manifests + facts + builds_on,
        outputs = [plan] + edits.values(),
        mnemonic = "RocmPlan",
        progress_message = "Planning package %{label}",
    )
    return plan

def _pack(ctx, artifact, unit, edit):
    """Declares the pack action of one unit and returns its (segment, index)."""
    segment = ctx.actions.declare_file("{}.segments/{}.seg".format(ctx.label.name, unit.id))
    index = ctx.actions.declare_file("{}.segments/{}.json".format(ctx.label.name, unit.id))
    launchers = [] if unit.is_big_file else [ctx.executable._launcher]
    name = unit.id.rpartition("/")[2] if unit.is_big_file else unit.id
    args = tool_args(ctx)
    args.add(edit, format = "--edits=%s")
    args.add(artifact_id(artifact), format = "--artifact=%s")
    args.add(unit.manifest, format = "--manifest=%s")
    args.add_all(launchers, format_each = "--launcher=%s")
    args.add(ctx.attr._compression[BuildSettingInfo].value, format = "--compression=%s")
    args.add(unit.cores, format = "--threads=%s")
    if ctx.attr._verbose[BuildSettingInfo].value:
        args.add("--verbose")
    args.add(segment, format = "--segment=%s")
    args.add(index, format = "--index=%s")
    args.add_all(unit.files, map_each = located_file)
    run_tool(
        ctx,
        tool = ctx.attr._pack,
        args = args,
        inputs = depset([edit, unit.manifest] + launchers, transitive = [unit.files]),
        outputs = [segment, index],
        mnemonic = "RocmPack",
        progress_message = "Packing {}: {}".format(ctx.attr.package, name),
        cores = unit.cores,
    )
    return segment, index

def _rocm_package_impl(ctx):
    artifacts = [artifact[ArtifactInfo] for artifact in ctx.attr.artifacts]
    units = _packed_units(ctx)
    edits = {unit.id: ctx.actions.declare_file("{}.edits/{}.json".format(ctx.label.name, unit.id)) for _, unit in units}
    plan = _plan(ctx, artifacts, edits)
    packed = [_pack(ctx, artifact, unit, edits[unit.id]) for artifact, unit in units]
    return [
        DefaultInfo(files = depset([plan])),
        PackageInfo(
            archives = {artifact_id(artifact): artifact.archive_sha256 for artifact in artifacts if artifact.archive_sha256},
            big_files = [unit.id for _, unit in units if unit.is_big_file],
            builds_on = [package[PackageInfo].plan for package in ctx.attr.builds_on],
            definition = struct(package = ctx.attr.package, kind = ctx.attr.kind, tree = with_suffix(ctx, ctx.attr.tree)),
            facts = depset([unit.facts for artifact in artifacts for unit in artifact.units]),
            indexes = depset([index for _, index in packed]),
            plan = plan,
            segments = depset([segment for segment, _ in packed]),
        ),
    ]

rocm_package = rule(
    doc = """Plans one Python distribution and packs its entries; `rocm_wheel` makes a wheel of it.

The default output is the plan: JSON that says of every entry where it comes from, what becomes of it, and why.""",
    implementation = _rocm_package_impl,
    attrs = {
        "artifacts": attr.label_list(providers = [ArtifactInfo], doc = "What the package is made from."),
        "builds_on": attr.label_list(providers = [PackageInfo], doc = "Packages that are installed with this one: links may lead into them."),
        "exclude": attr.string_list(doc = "Glob patterns (`**` for any directories) of paths that the package does not hold."),
        "include": attr.string_list(doc = "Glob patterns: if given, the package holds only these paths."),
        "kind": attr.string(default = "runtime", values = ["runtime", "devel"], doc = "`runtime`: a tree without links, as a wheel holds it. `devel`: the tree as it is, with links to what runtime packages have."),
        "package": attr.string(mandatory = True, doc = "Name of the package, in plans, errors and progress."),
        "per_target": attr.bool(doc = "Whether users have one of several such packages, by GPU target."),
        "repacked": attr.label_list(providers = [ArtifactInfo], doc = "Artifacts whose big files a devel package holds itself, although packages that it builds on are made from them, too: those packages leave them out."),
        "rpath": attr.string_list(doc = "Directories that the loader searches, as `tree/path`. `{suffix}` in the tree's name stands for the version suffix."),
        "tree": attr.string(mandatory = True, doc = "Directory in site-packages that stands for the install prefix. `{suffix}` stands for the version suffix."),
        "_compression": attr.label(default = "//rules/settings:compression"),
        "_launcher": attr.label(default = "//tools/launcher", executable = True, cfg = "target"),
        "_pack": tool_attr("//tools/pack:pack_tool"),
        "_plan": tool_attr("//tools/plan:plan_tool"),
        "_verbose": attr.label(default = "//rules/settings:verbose"),
    } | VERSION_SUFFIX_ATTRS,
    provides = [PackageInfo],
)
