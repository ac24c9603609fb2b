"""sdk_size_report: reports the size of packages by kind of content, as a page and JSON."""

load("//rules/private/common:providers.bzl", "CoverageInfo", "DistributionInfo", "PackageInfo")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_args", "tool_attr")

visibility(["//rules"])

def _sdk_size_report_impl(ctx):
    outputs = {kind: ctx.actions.declare_file("{}.{}".format(ctx.label.name, kind)) for kind in ["html", "json"]}
    args = tool_args(ctx)
    args.add(ctx.file._style, format = "--style=%s")
    coverage = [ctx.attr.coverage[CoverageInfo].table] if ctx.attr.coverage else []
    args.add_all(coverage, format_each = "--coverage=%s")
    for kind, output in outputs.items():
        args.add(output, format = "--{}=%s".format(kind))
    files, documents = [ctx.file._style] + coverage, []
    for key, wheel in enumerate(ctx.attr.wheels):
        package, digest = wheel[PackageInfo], wheel[DistributionInfo].digest
        args.add(package.plan, format = "--plan={}=%s".format(key))
        args.add(digest, format = "--digest={}=%s".format(key))
        args.add_all(package.indexes, format_each = "--index={}=%s".format(key))
        args.add_all(package.facts, format_each = "--facts={}=%s".format(key))
        files += [package.plan, digest]
        documents += [package.indexes, package.facts]
    run_tool(
        ctx,
        tool = ctx.attr._size_report,
        args = args,
        inputs = depset(files, transitive = documents),
        outputs = outputs.values(),
        mnemonic = "RocmSizeReport",
        progress_message = "Writing size report %{label}",
    )
    return [DefaultInfo(files = depset(outputs.values()))]

sdk_size_report = rule(
    doc = """Reports the size of packages: device code, host code and data, installed and as a download.

For thin packages it also reports the size without slicing. `{name}.html` has tables, `{name}.json` the numbers
in bytes. The report is made from plans and indexes; it reads no wheel.""",
    implementation = _sdk_size_report_impl,
    attrs = {
        "coverage": attr.label(providers = [CoverageInfo], doc = "A `rocm_coverage`: the page then says which library has code for which GPU."),
        "wheels": attr.label_list(
            mandatory = True,
            allow_empty = False,
            providers = [DistributionInfo, PackageInfo],
            doc = "The wheels, each a `sdk_wheel`, in the order of the report.",
        ),
        "_size_report": tool_attr("//tools/actions/size_report:size_report_tool"),
        "_style": attr.label(default = "//lib/index:page.css", allow_single_file = True),
    },
)
