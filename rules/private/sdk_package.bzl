"""sdk_package: plans one Python distribution and packs its entries."""

load("//rules/private/common:package_actions.bzl", "PACKAGE_ATTRS", "all_units", "member", "package_infos")
load("//rules/private/common:platform.bzl", "PLATFORM_ATTRS", "for_platform")
load("//rules/private/common:providers.bzl", "ArtifactInfo", "PackageInfo")
load("//rules/private/common:units.bzl", "artifact_id")

visibility(["//rules"])

def _linked_units(ctx):
    """Returns the IDs of the units that this package does not pack, as a dict.

    A devel package links to the big files of the packages that it builds on. Actions to find that out once per file would
    bring each of them to a remote worker for nothing; so it is taken as given, and proven by the plan.
    """
    if ctx.attr.kind != "devel":
        return {}
    big_files = {unit: True for package in ctx.attr.builds_on for unit in package[PackageInfo].big_files}
    repacked = {artifact_id(artifact[ArtifactInfo]): True for artifact in ctx.attr.repacked}
    return {
        unit.id: True
        for artifact, unit in all_units(ctx)
        if unit.id in big_files and artifact_id(artifact) not in repacked
    }

def _sdk_package_impl(ctx):
    linked = _linked_units(ctx)
    this = member(
        ctx,
        name = ctx.label.name,
        package = ctx.attr.package,
        tree = ctx.attr.tree,
        rpath = ctx.attr.rpath,
        kind = ctx.attr.kind,
        per_target = ctx.attr.per_target,
    )
    info = package_infos(ctx, [this], [(artifact, unit) for artifact, unit in all_units(ctx) if unit.id not in linked])[0]
    return [DefaultInfo(files = depset([info.plan])), info]

sdk_package = rule(
    doc = """Plans one Python distribution and compresses its files. `sdk_wheel` makes the wheel.

The default output is the plan: JSON that says where each entry comes from, what happens to it, and why.""",
    implementation = _sdk_package_impl,
    attrs = PACKAGE_ATTRS | PLATFORM_ATTRS | {
        "kind": attr.string(default = "runtime", values = ["runtime", "devel"], doc = "`runtime`: a tree without links, for direct installation. `devel`: the complete tree, with links, which are made on first use."),
        "package": attr.string(mandatory = True, doc = "Name of the package in plans, errors and progress messages."),
        "per_target": attr.bool(doc = "Whether users install one of several such packages, by GPU target."),
        "repacked": attr.label_list(providers = [ArtifactInfo], doc = "Artifacts whose big files the devel package contains itself, because the packages it builds on leave them out."),
        "rpath": attr.string_list(doc = "Directories that the loader searches, as `tree/path`, in the tree of this package or of one in `builds_on`. `{suffix}` stands for the version suffix."),
        "tree": attr.string(mandatory = True, doc = "Directory in site-packages that replaces the install prefix. `{suffix}` stands for the version suffix."),
    },
    cfg = for_platform,
    provides = [PackageInfo],
)
