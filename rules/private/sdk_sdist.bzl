"""sdk_sdist: a source distribution of small files."""

load("//rules/private/common:project.bzl", "PROJECT_ATTRS", "escaped", "file_name", "project_file", "project_inputs", "requirement_of", "small_files", "source_files", "version_of")
load("//rules/private/common:providers.bzl", "DistributionInfo")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

def _sdk_sdist_impl(ctx):
    name = file_name(ctx, "{}-{}.tar.gz".format(escaped(ctx.attr.distribution), version_of(ctx)))
    sdist = ctx.actions.declare_file(name)
    metadata = ctx.actions.declare_file(name + ".metadata")
    digest = ctx.actions.declare_file(name + ".digest.json")
    run_tool(
        ctx,
        tool = ctx.attr._sdist,
        inputs = project_inputs(ctx, project_file(ctx), small_files(ctx, others = source_files(ctx))),
        outputs = dict(sdist = sdist, metadata = metadata, digest = digest),
        mnemonic = "RocmSdist",
        progress_message = "Writing sdist " + name,
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset([sdist])),
        DistributionInfo(file = sdist, metadata = metadata, digest = digest, requirement = requirement_of(ctx), sbom = None, variant = None),
    ]

sdk_sdist = rule(
    doc = """Writes a source distribution. Equal inputs give equal bytes.

Its build backend says what the fields have that `dynamic` names.""",
    implementation = _sdk_sdist_impl,
    attrs = PROJECT_ATTRS | {
        "files": attr.label_keyed_string_dict(allow_files = True, doc = "File -> path in the sdist."),
        "sources": attr.label(allow_files = True, doc = "`filegroup` whose files keep their paths, relative to its package."),
        "_sdist": tool_attr("//tools/actions:sdist_tool"),
    },
    provides = [DistributionInfo],
)
