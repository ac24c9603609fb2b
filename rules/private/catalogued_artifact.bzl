"""catalogued_artifact: an artifact outside the workspace, as the catalog's repository rule writes it down."""

load("//rules/private/common:units.bzl", "INSPECT_ATTRS", "artifact_providers")
load("//rules/private/providers:artifact_info.bzl", "ArtifactInfo")

visibility(["//rules"])

def _catalogued_artifact_impl(ctx):
    artifact = "{}_{}_{}".format(ctx.attr.artifact_name, ctx.attr.component, ctx.attr.target)
    return artifact_providers(ctx, artifact, ctx.file.manifest, ctx.files.srcs, ctx.files.big_srcs)

catalogued_artifact = rule(
    doc = "An artifact found by the catalog.",
    implementation = _catalogued_artifact_impl,
    attrs = {
        "artifact_name": attr.string(mandatory = True, doc = "What the artifact is part of."),
        "big_srcs": attr.label_list(allow_files = True, doc = "Files that get actions of their own."),
        "component": attr.string(mandatory = True, doc = "`lib`, `run`, `dev`, `dbg`, `doc` or `test`."),
        "manifest": attr.label(mandatory = True, allow_single_file = [".json"], doc = "The entries, with what Bazel's inputs lose."),
        "srcs": attr.label_list(allow_files = True, doc = "All other files."),
        "target": attr.string(mandatory = True, doc = "`generic`, an AMD GPU target or a family of them."),
    } | INSPECT_ATTRS,
    provides = [ArtifactInfo],
)
