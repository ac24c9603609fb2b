"""rocm_coverage: computes which library has device code for which GPU target."""

load("//rules/private/common:gpu_targets.bzl", "members_of_packages")
load("//rules/private/common:platform.bzl", "LINUX_ATTRS", "for_linux", "is_for_windows")
load("//rules/private/common:providers.bzl", "ArtifactInfo", "CoverageInfo")
load("//rules/private/common:units.bzl", "artifact_id")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

def _rocm_coverage_impl(ctx):
    artifacts = [artifact[ArtifactInfo] for artifact in ctx.attr.artifacts]
    info = CoverageInfo(
        artifacts = {artifact_id(artifact): True for artifact in artifacts},
        checked = ctx.actions.declare_file(ctx.label.name + ".checked"),
        lacks = ctx.actions.declare_file(ctx.label.name + ".lacks.json"),
        table = ctx.actions.declare_file(ctx.label.name + ".json"),
        targets = ctx.attr.targets,
    )
    text = ctx.actions.declare_file(ctx.label.name + ".txt")
    run_tool(
        ctx,
        tool = ctx.attr._coverage,
        inputs = {
            "facts": [unit.facts for artifact in artifacts for unit in artifact.units],
            "manifest": [artifact.manifest for artifact in artifacts],
        },
        values = {
            "package": {name: ",".join(targets) for name, targets in members_of_packages(ctx).items()},
            "platform": "windows" if is_for_windows(ctx) else "linux",
            "targets_option": ctx.attr.targets_option,
        },
        outputs = dict(lacks = info.lacks, stamp = info.checked, table = info.table, text = text),
        mnemonic = "RocmCoverage",
        progress_message = "Finding out which library has device code for which GPU: %{label}",
    )
    return [
        DefaultInfo(files = depset([info.table, text])),
        OutputGroupInfo(lacks = depset([info.lacks]), table = depset([info.table])),
        info,
    ]

rocm_coverage = rule(
    doc = """Computes which library has device code for which GPU target.

Writes the table as `{name}.json`, and for people as `{name}.txt`. A note says what the packages of `targets` lack.
`last_release` of `sdk_wheel_set_test` finds what a library lost (R107).""",
    implementation = _rocm_coverage_impl,
    attrs = LINUX_ATTRS | {
        "artifacts": attr.label_list(providers = [ArtifactInfo], doc = "Artifacts that packages are made from."),
        "targets": attr.string_list_dict(doc = "Packages and their GPU targets, as in `sdk_gpu_packages`. The build stops if one lacks a library that nearly all other targets have."),
        "targets_option": attr.string(doc = "Command-line option that sets `targets`, if your packages have one. Messages name it instead of the attribute."),
        "_coverage": tool_attr("//tools/actions:coverage_tool"),
    },
    cfg = for_linux,
    provides = [CoverageInfo],
)
