"""rocm_index: puts distributions into one directory, with an index that pip and uv read."""

load("//rules/private/common:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load("//rules/private/providers:distribution_info.bzl", "DistributionInfo")

visibility(["//rules"])

def _project(distribution):
    """Returns a project's normalised name (PEP 503) from the name of one of its files."""
    return distribution.file.basename.split("-")[0].lower().replace("_", "-")

def _rocm_index_impl(ctx):
    distributions = [target[DistributionInfo] for target in ctx.attr.distributions]
    directory = ctx.label.name
    placed = []
    for distribution in distributions:
        for file, name in [(distribution.file, distribution.file.basename), (distribution.metadata, distribution.file.basename + ".metadata")]:
            link = ctx.actions.declare_file("{}/{}".format(directory, name))
            ctx.actions.symlink(output = link, target_file = file)
            placed.append(link)
    links = ctx.actions.declare_file(directory + "/index.html")
    root = ctx.actions.declare_file(directory + "/simple/index.html")
    pages = {
        project: ctx.actions.declare_file("{}/simple/{}/index.html".format(directory, project))
        for project in sorted({_project(distribution): True for distribution in distributions})
    }
    digests = [distribution.digest for distribution in distributions]
    args = tool_args(ctx)
    args.add_all(digests, format_each = "--digest=%s")
    args.add(ctx.attr.requires_python, format = "--requires-python=%s")
    args.add(links, format = "--links=%s")
    args.add(root, format = "--root=%s")
    args.add_all(["--project={}={}".format(project, page.path) for project, page in pages.items()])
    run_tool(
        ctx,
        tool = ctx.attr._index,
        args = args,
        inputs = digests,
        outputs = [links, root] + pages.values(),
        mnemonic = "RocmIndex",
        progress_message = "Writing index %{label}",
    )
    return [DefaultInfo(files = depset(placed + [links, root] + pages.values()))]

rocm_index = rule(
    doc = """Puts distributions into one directory, named like the target, with an index.

`index.html` is a flat page for `--find-links`, `simple/` the simple repository API (PEP 503). Only the
distributions of this build are listed, whatever earlier builds left in the directory.""",
    implementation = _rocm_index_impl,
    attrs = {
        "distributions": attr.label_list(mandatory = True, providers = [DistributionInfo], doc = "Wheels and sdists."),
        "requires_python": attr.string(default = ">=3.9", doc = "Version specifier that every link carries."),
        "_index": tool_attr("//tools/index:index_tool"),
    },
)
