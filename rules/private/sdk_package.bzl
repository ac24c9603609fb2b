"""sdk_package plans one Python distribution and packs its entries; sdk_gpu_packages does for each GPU target."""

load("//rules/private/common:gpu_targets.bzl", "TARGETS_ATTR", "members_of_packages")
load("//rules/private/common:package_actions.bzl", "PACKAGE_ATTRS", "all_units", "member", "package_infos")
load("//rules/private/common:platform.bzl", "PLATFORM_ATTRS", "for_platform")
load("//rules/private/common:providers.bzl", "ArtifactInfo", "CoverageInfo", "PackageInfo", "ThinPackagesInfo")
load("//rules/private/common:units.bzl", "artifact_id")
load("//rules/shared:names.bzl", "shown")

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

def _for_target(text, target):
    """Replaces `{target}` by the target, as part of a Python identifier."""
    return text.replace("{target}", target.replace("-", "_"))

def _all_targets(ctx, by_package):
    """Returns the targets of all packages, sorted; fails for a target that is left out as well."""
    all_targets = sorted({target: None for targets in by_package.values() for target in targets})
    for target in ctx.attr.left_out:
        if target in all_targets:
            fail("{}: left_out: {} has a package; remove it from `left_out` or from `targets`".format(shown(ctx.label), target))
    return all_targets

def _checked(ctx):
    """Returns the file that the coverage check writes; fails unless the coverage is of these artifacts and targets."""
    if not ctx.attr.coverage:
        return []
    info = ctx.attr.coverage[CoverageInfo]
    for artifact in ctx.attr.artifacts:
        if artifact_id(artifact[ArtifactInfo]) not in info.artifacts:
            fail("{}: coverage: {} does not cover artifact {}; expected a rocm_coverage of the same artifacts".format(shown(ctx.label), shown(ctx.attr.coverage.label), shown(artifact.label)))
    for name, targets in ctx.attr.targets.items():
        if info.targets.get(name) != targets:
            fail("{}: coverage: {} has other `targets` for {}; expected {}".format(shown(ctx.label), shown(ctx.attr.coverage.label), name, targets))
    return [info.checked]

def _sdk_gpu_packages_impl(ctx):
    by_package = members_of_packages(ctx)
    all_targets = _all_targets(ctx, by_package)
    members = [
        member(
            ctx,
            name = "{}_{}".format(ctx.label.name, name),
            package = "{}_{}".format(ctx.attr.package, name),
            tree = _for_target(ctx.attr.tree, name),
            rpath = [_for_target(directory, name) for directory in ctx.attr.rpath],
            per_target = True,
            slice = {
                "all_targets": all_targets,
                "left_out": ctx.attr.left_out,
                "left_out_option": ctx.attr.left_out_option,
                "targets": targets,
            },
        )
        for name, targets in by_package.items()
    ]
    infos = package_infos(ctx, members, all_units(ctx), checked = _checked(ctx))
    return [
        DefaultInfo(files = depset([info.plan for info in infos])),
        ThinPackagesInfo(packages = dict(zip(ctx.attr.targets, infos))),
    ]

sdk_gpu_packages = rule(
    doc = """Plans and packs one package per GPU target, or group of targets, from artifacts with code for many targets.

Each library keeps its host code and the device code that the package's targets can load. A file that names a target
(`gfx90a68.kdb`) goes to the package of that target. Common content is compressed once. Code for a target without a
package stops the build, unless `left_out` names the target. A library that has no code for a target is packaged without
device code.

`sdk_gpu_package` selects one of the packages for `sdk_wheel`. The default outputs are the plans.""",
    implementation = _sdk_gpu_packages_impl,
    attrs = PACKAGE_ATTRS | TARGETS_ATTR | {
        "coverage": attr.label(providers = [CoverageInfo], doc = "A `rocm_coverage` of the same artifacts and targets. It is checked before anything is planned."),
        "left_out": attr.string_list(doc = "GPU targets without a package, whose code in the artifacts is dropped. Code that a package's own targets can load is kept."),
        "left_out_option": attr.string(doc = "Command-line option that sets `left_out`, if your packages have one: `--//my:left_out`. Errors name it instead of the attribute."),
        "package": attr.string(mandatory = True, doc = "Name of the packages in plans, errors and progress messages, followed by `_` and the target."),
        "rpath": attr.string_list(doc = "As in `sdk_package`. `{target}` stands for the target, with `_` for `-`."),
        "tree": attr.string(mandatory = True, doc = "As in `sdk_package`. `{target}` stands for the target, with `_` for `-`."),
    },
    provides = [ThinPackagesInfo],
)

def _sdk_gpu_package_impl(ctx):
    packages = ctx.attr.packages[ThinPackagesInfo].packages
    if ctx.attr.target not in packages:
        fail("{}: {} has no package for {}; expected one of {}".format(shown(ctx.label), shown(ctx.attr.packages.label), ctx.attr.target, ", ".join(packages)))
    info = packages[ctx.attr.target]
    return [DefaultInfo(files = depset([info.plan])), info]

sdk_gpu_package = rule(
    doc = "Selects one of the packages of a `sdk_gpu_packages`.",
    implementation = _sdk_gpu_package_impl,
    attrs = {
        "packages": attr.label(mandatory = True, providers = [ThinPackagesInfo], doc = "The `sdk_gpu_packages`."),
        "target": attr.string(mandatory = True, doc = "Name of the package, a key of `targets`."),
    },
    provides = [PackageInfo],
)
