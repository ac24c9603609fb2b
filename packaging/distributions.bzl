"""distributions_file: what the selector knows about the packages of its version."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

visibility(["//packaging", "//tests/..."])

def _distributions_file_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    document = json.decode(ctx.attr.content) | {"version": ctx.attr.version[BuildSettingInfo].value}
    ctx.actions.write(output, json.encode_indent(document, indent = " ") + "\n")
    return [DefaultInfo(files = depset([output]))]

distributions_file = rule(
    doc = "Writes `_distributions.json`: version, layout, targets, and the names of every package.",
    implementation = _distributions_file_impl,
    attrs = {
        "content": attr.string(mandatory = True, doc = "JSON object: all but the version."),
        "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the version."),
    },
)
