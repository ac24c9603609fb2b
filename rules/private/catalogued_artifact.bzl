"""catalogued_artifact: an artifact outside the workspace, as the catalog's repository rule writes it down."""

load("//rules/private/common:units.bzl", "INSPECT_ATTRS", "artifact_providers", "unit")
load("//rules/private/providers:artifact_info.bzl", "ArtifactInfo")

visibility(["//rules"])

def _catalogued_artifact_impl(ctx):
    artifact = "{}_{}_{}".format(ctx.attr.artifact_name, ctx.attr.component, ctx.attr.target)
    folder = ctx.label.name
    if len(ctx.files.big_srcs) != len(ctx.files.big_manifests) or len(ctx.files.big_srcs) != len(ctx.attr.big_threads):
        fail("{}: {} big_srcs, {} big_manifests, {} big_threads; expected as many of each. The catalog writes this file: fetch it anew".format(ctx.label, len(ctx.files.big_srcs), len(ctx.files.big_manifests), len(ctx.attr.big_threads)))
    units = [unit("small", ctx.file.small_manifest, ctx.files.srcs, ctx.attr.small_threads)] + [
        unit("big/" + file.short_path.partition("/files/" + folder + "/")[2], manifest, [file], threads, is_big_file = True)
        for file, manifest, threads in zip(ctx.files.big_srcs, ctx.files.big_manifests, ctx.attr.big_threads)
    ]
    return artifact_providers(ctx, artifact, ctx.file.manifest, units, ctx.attr.archive_sha256 or None)

catalogued_artifact = rule(
    doc = "An artifact found by the catalog.",
    implementation = _catalogued_artifact_impl,
    attrs = {
        "archive_sha256": attr.string(doc = "SHA-256 of the archive that the artifact came as, if it did and that is known."),
        "artifact_name": attr.string(mandatory = True, doc = "What the artifact is part of."),
        "big_manifests": attr.label_list(allow_files = [".json"], doc = "The manifest of each big file, in their order."),
        "big_srcs": attr.label_list(allow_files = True, doc = "Files that get actions of their own."),
        "big_threads": attr.int_list(doc = "How many threads packing each big file can use, in their order."),
        "component": attr.string(mandatory = True, doc = "`lib`, `run`, `dev`, `dbg`, `doc` or `test`."),
        "manifest": attr.label(mandatory = True, allow_single_file = [".json"], doc = "The entries, with what Bazel's inputs lose."),
        "small_manifest": attr.label(mandatory = True, allow_single_file = [".json"], doc = "The manifest of `srcs`."),
        "small_threads": attr.int(default = 1, doc = "How many threads packing `srcs` can use."),
        "srcs": attr.label_list(allow_files = True, doc = "All other files."),
        "target": attr.string(mandatory = True, doc = "`generic`, an AMD GPU target or a family of them."),
    } | INSPECT_ATTRS,
    provides = [ArtifactInfo],
)
