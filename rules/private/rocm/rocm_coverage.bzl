"""rocm_coverage: computes which library has device code for which GPU target, and compares that with a committed table."""

load("@rules_python//python:defs.bzl", "py_binary")
load("//rules/private/common:gpu_targets.bzl", "members_of_packages")
load("//rules/private/common:platform.bzl", "LINUX_ATTRS", "for_linux", "is_for_windows")
load("//rules/private/common:providers.bzl", "ArtifactInfo", "CoverageInfo")
load("//rules/private/common:units.bzl", "artifact_id")
load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

def _committed_table(ctx):
    """Returns the committed table, `expected`, or None if there is none."""
    files = ctx.files.expected
    if len(files) > 1 or (files and not files[0].is_source):
        fail("{}: expected: {} gives {}; expected one file of the workspace, which `bazel run` can write".format(shown(ctx.label), shown(ctx.attr.expected.label), files))
    return files[0] if files else None

def _update_settings(ctx, committed):
    """Writes what the command needs that accepts differences; returns the file."""
    settings = ctx.actions.declare_file(ctx.label.name + ".settings.json")
    ctx.actions.write(settings, json.encode({
        "committed": committed.short_path if committed else "",
        "compared": ctx.attr.compared,
        "expected_option": ctx.attr.expected_option,
        "label": shown(ctx.label) + "_update",
    }))
    return settings

def _compute(ctx):
    """Declares the action that computes the table; returns its outputs, by kind."""
    outputs = {
        "json": ctx.actions.declare_file(ctx.label.name + ".computed.json"),
        "text": ctx.actions.declare_file(ctx.label.name + ".txt"),
    }
    artifacts = [artifact[ArtifactInfo] for artifact in ctx.attr.artifacts]
    run_tool(
        ctx,
        tool = ctx.attr._coverage,
        inputs = {
            "facts": [unit.facts for artifact in artifacts for unit in artifact.units],
            "manifest": [artifact.manifest for artifact in artifacts],
        },
        values = {"platform": "windows" if is_for_windows(ctx) else "linux"},
        outputs = outputs,
        mnemonic = "RocmCoverage",
        progress_message = "Finding out which library has device code for which GPU: %{label}",
    )
    return outputs

def _check(ctx, computed, committed):
    """Declares the action that checks the table; returns CoverageInfo."""
    info = CoverageInfo(
        artifacts = {artifact_id(artifact[ArtifactInfo]): True for artifact in ctx.attr.artifacts},
        checked = ctx.actions.declare_file(ctx.label.name + ".checked"),
        lacks = ctx.actions.declare_file(ctx.label.name + ".lacks.json"),
        table = ctx.actions.declare_file(ctx.label.name + ".json"),
        targets = ctx.attr.targets,
    )
    run_tool(
        ctx,
        tool = ctx.attr._check,
        inputs = {"computed": computed, "expected": committed},
        values = {
            "accept": "bazel run {}_update".format(shown(ctx.label)) + ("" if committed else " -- FILE"),
            "committed": committed.short_path if committed else None,
            "compared": ctx.attr.compared,
            "package": {name: ",".join(targets) for name, targets in members_of_packages(ctx).items()},
            "targets_option": ctx.attr.targets_option,
        },
        outputs = dict(stamp = info.checked, lacks = info.lacks, table = info.table),
        mnemonic = "RocmCoverageCheck",
        progress_message = "Checking which library has device code for which GPU: %{label}",
    )
    return info

def _rocm_coverage_impl(ctx):
    committed = _committed_table(ctx)
    computed = _compute(ctx)
    info = _check(ctx, computed["json"], committed)
    settings = _update_settings(ctx, committed)
    return [
        DefaultInfo(files = depset([info.table, computed["text"]])),
        OutputGroupInfo(
            computed = depset([computed["json"]]),
            lacks = depset([info.lacks]),
            settings = depset([settings]),
            table = depset([info.table]),
        ),
        info,
    ]

_rocm_coverage = rule(
    doc = "See the macro of that name.",
    implementation = _rocm_coverage_impl,
    attrs = LINUX_ATTRS | {
        "artifacts": attr.label_list(providers = [ArtifactInfo], doc = "Artifacts that packages are made from."),
        "compared": attr.string_list(doc = "GPU targets to compare with `expected`; all if empty."),
        "expected": attr.label(allow_files = True, doc = "Committed table, a file of the workspace. Nothing is compared without it, or if the target has no files."),
        "expected_option": attr.string(doc = "Command-line option that sets `expected`, if your packages have one: `--//my:coverage`. Messages name it instead of the attribute."),
        "targets": attr.string_list_dict(doc = "Packages and their GPU targets, as in `sdk_gpu_packages`. The build stops if one lacks a library that nearly all other targets have."),
        "targets_option": attr.string(doc = "Command-line option that sets `targets`, if your packages have one. Messages name it instead of the attribute."),
        "_check": tool_attr("//tools/actions:check_tool"),
        "_coverage": tool_attr("//tools/actions:coverage_tool"),
    },
    cfg = for_linux,
    provides = [CoverageInfo],
)

def rocm_coverage(name, **kwargs):
    """Computes which library has device code for which GPU target, and compares the table with a committed one.

    Writes the table as `{name}.json`, and for people as `{name}.txt`. With `expected`, any difference
    stops the build, and one error lists all of them; `bazel run` of `{name}_update` accepts them. Without `expected`, a
    note says what the packages of `targets` lack.

    Args:
        name: name of the target. The command is `{name}_update`.
        **kwargs: the attributes below, and the attributes that all rules have.
    """
    _rocm_coverage(name = name, **kwargs)
    common = {key: value for key, value in kwargs.items() if key in ["tags", "visibility", "testonly"]}
    for group in ["computed", "lacks", "settings", "table"]:
        native.filegroup(name = "{}_{}".format(name, group), srcs = [name], output_group = group, **common)
    program = Label("//tools/actions:coverage/update.py")
    py_binary(
        name = name + "_update",
        srcs = [program],
        main = program,
        args = ["$(rootpath {}_settings)".format(name), "$(rootpath {}_computed)".format(name)],
        data = [name + "_computed", name + "_settings"],
        # Otherwise a `tools` package of the calling module, among the data, would hide ours.
        legacy_create_init = 0,
        deps = [Label("//tools/actions:coverage")],
        **common
    )
