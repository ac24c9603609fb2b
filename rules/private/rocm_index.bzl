"""rocm_index: puts distributions into one directory, with an index that pip and uv read, and a page for people."""

load("//rules/private/common:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load("//rules/private/providers:distribution_info.bzl", "DistributionInfo")

visibility(["//rules"])

def _rocm_index_impl(ctx):
    distributions = [target[DistributionInfo] for target in ctx.attr.distributions + ctx.attr.static]
    directory = ctx.actions.declare_directory(ctx.label.name)
    args = tool_args(ctx)
    inputs = [ctx.file._style, ctx.file._script] + ctx.files.selector
    for distribution in distributions:
        args.add(distribution.file, format = "--distribution=%s")
        args.add(distribution.metadata, format = "--metadata=%s")
        args.add(distribution.digest, format = "--digest=%s")
        inputs += [distribution.file, distribution.metadata, distribution.digest]
    args.add_all([target[DistributionInfo].file for target in ctx.attr.static], format_each = "--static=%s")
    args.add(ctx.attr.title, format = "--title=%s")
    args.add(ctx.file._style, format = "--style=%s")
    args.add(ctx.file._script, format = "--script=%s")
    args.add_all(ctx.files.selector, format_each = "--selector=%s")
    args.add(directory.path, format = "--output=%s")
    run_tool(
        ctx,
        tool = ctx.attr._index,
        args = args,
        inputs = inputs,
        outputs = [directory],
        mnemonic = "RocmIndex",
        progress_message = "Writing index %{label}",
        use_default_shell_env = True,
        # A sandbox is a file system of its own to link(2); without one, the directory costs no copy of the distributions.
        # Nor is a cache to have them: see rocm_wheel.
        execution_requirements = {"no-remote-cache-upload": "", "no-sandbox": "1"},
    )
    return [DefaultInfo(files = depset([directory]))]

rocm_index = rule(
    doc = """Puts distributions into one directory, named like the target, with an index.

`simple/` is the simple repository API, as HTML (PEP 503) and JSON (PEP 691); `find-links.html` a flat page for
`--find-links`; `index.html` a page for people. What they say of a distribution is what its metadata says. The directory
holds the distributions of this build only, whatever earlier builds made.

`static/` has those that installers would prefer to others of the same name and version, and an index of its own:
with them in place of those others, and all else.""",
    implementation = _rocm_index_impl,
    attrs = {
        "distributions": attr.label_list(mandatory = True, providers = [DistributionInfo], doc = "Wheels and sdists."),
        "selector": attr.label(
            allow_single_file = [".json"],
            doc = "What the selector knows, in the form of `_distributions.json`. With it the page for people tells of GPU targets.",
        ),
        "static": attr.label_list(providers = [DistributionInfo], doc = "Distributions that lie apart, in `static/`."),
        "title": attr.string(default = "Python packages", doc = "Headline of the page for people."),
        "_index": tool_attr("//tools/actions/index:index_tool"),
        "_script": attr.label(default = "//tools/actions/index:page.js", allow_single_file = True),
        "_style": attr.label(default = "//tools/actions/index:page.css", allow_single_file = True),
    },
)
