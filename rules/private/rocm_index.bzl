"""rocm_index: puts distributions into one directory, with an index that pip and uv read."""

load("//rules/private/common:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load("//rules/private/providers:distribution_info.bzl", "DistributionInfo")

visibility(["//rules"])

def _rocm_index_impl(ctx):
    distributions = [target[DistributionInfo] for target in ctx.attr.distributions + ctx.attr.static]
    directory = ctx.actions.declare_directory(ctx.label.name)
    args = tool_args(ctx)
    inputs = []
    for distribution in distributions:
        args.add(distribution.file, format = "--distribution=%s")
        args.add(distribution.metadata, format = "--metadata=%s")
        args.add(distribution.digest, format = "--digest=%s")
        inputs += [distribution.file, distribution.metadata, distribution.digest]
    args.add_all([target[DistributionInfo].file for target in ctx.attr.static], format_each = "--static=%s")
    args.add(ctx.attr.requires_python, format = "--requires-python=%s")
    args.add(directory.path, format = "--output=%s")
    run_tool(
        ctx,
        tool = ctx.attr._index,
        args = args,
        inputs = inputs,
        outputs = [directory],
        mnemonic = "RocmIndex",
        progress_message = "Writing index %{label}",
        # A sandbox is a file system of its own to link(2); without one, the directory costs no copy of the distributions.
        execution_requirements = {"no-sandbox": "1"},
    )
    return [DefaultInfo(files = depset([directory]))]

rocm_index = rule(
    doc = """Puts distributions into one directory, named like the target, with an index.

`index.html` is a flat page for `--find-links`, `simple/` the simple repository API (PEP 503). The directory
holds the distributions of this build only, whatever earlier builds made.

`static/` has those that installers would prefer to others of the same name and version, and index pages of its own:
with them in place of those others, and all else.""",
    implementation = _rocm_index_impl,
    attrs = {
        "distributions": attr.label_list(mandatory = True, providers = [DistributionInfo], doc = "Wheels and sdists."),
        "requires_python": attr.string(default = ">=3.9", doc = "Version specifier that every link carries."),
        "static": attr.label_list(providers = [DistributionInfo], doc = "Distributions that lie apart, in `static/`."),
        "_index": tool_attr("//tools/index:index_tool"),
    },
)
