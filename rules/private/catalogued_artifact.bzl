"""catalogued_artifact: an artifact outside the workspace, written by the catalog's repository rule."""

load("//rules/private/common:providers.bzl", "ArtifactInfo")
load("//rules/private/common:units.bzl", "INSPECT_ATTRS", "artifact_providers", "unit")
load("//rules/shared:labels.bzl", "shown")

visibility(["//rules"])

def _catalogued_artifact_impl(ctx):
    artifact = "{}_{}_{}".format(ctx.attr.artifact_name, ctx.attr.component, ctx.attr.target)
    folder = ctx.label.name
    if len(ctx.files.big_srcs) != len(ctx.files.big_manifests) or len(ctx.files.big_srcs) != len(ctx.attr.big_threads):
        fail("{}: {} big_srcs, {} big_manifests, {} big_threads; expected the same number of each. The catalog writes this file: fetch its repository again".format(shown(ctx.label), len(ctx.files.big_srcs), len(ctx.files.big_manifests), len(ctx.attr.big_threads)))
    units = [unit("small", ctx.file.small_manifest, ctx.files.srcs, ctx.attr.small_threads)] + [
        unit("big/" + file.short_path.partition("/files/" + folder + "/")[2], manifest, [file], threads, is_big_file = True)
        for file, manifest, threads in zip(ctx.files.big_srcs, ctx.files.big_manifests, ctx.attr.big_threads)
    ]
    return artifact_providers(ctx, artifact, ctx.file.manifest, units, ctx.attr.archive_sha256 or None)

catalogued_artifact = rule(
    doc = "Makes an artifact from files outside the workspace. Repositories that the catalog generates use it; in a workspace, use `sdk_artifact`.",
    implementation = _catalogued_artifact_impl,
    attrs = {
        "archive_sha256": attr.string(doc = "SHA-256 of the archive that the artifact was unpacked from, if known."),
        "artifact_name": attr.string(mandatory = True, doc = "Name of the artifact."),
        "big_manifests": attr.label_list(allow_files = [".json"], doc = "Manifest of each of `big_srcs`, in the same order."),
        "big_srcs": attr.label_list(allow_files = True, doc = "Big files, which get actions of their own."),
        "big_threads": attr.int_list(doc = "Number of threads for packing each of `big_srcs`, in the same order."),
        "component": attr.string(mandatory = True, doc = "`lib`, `run`, `dev`, `dbg`, `doc` or `test`."),
        "manifest": attr.label(mandatory = True, allow_single_file = [".json"], doc = "All entries, with the modes, links and names that Bazel does not keep."),
        "small_manifest": attr.label(mandatory = True, allow_single_file = [".json"], doc = "Manifest of `srcs`."),
        "small_threads": attr.int(default = 1, doc = "Number of threads for packing `srcs`."),
        "srcs": attr.label_list(allow_files = True, doc = "All other files."),
        "target": attr.string(mandatory = True, doc = "`generic`, an AMD GPU target, or a family of targets."),
    } | INSPECT_ATTRS,
    provides = [ArtifactInfo],
)
