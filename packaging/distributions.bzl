"""names_file: JSON files by which installed code knows what the build called its packages."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules:version.bzl", "VERSION_SUFFIX_ATTRS", "with_suffix")

visibility(["//packaging", "//tests/..."])

def _names_file_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    content = with_suffix(ctx, ctx.attr.content).replace("{version}", ctx.attr.version[BuildSettingInfo].value)
    ctx.actions.write(output, json.encode_indent(json.decode(content), indent = " ") + "\n")
    return [DefaultInfo(files = depset([output]))]

names_file = rule(
    doc = "Writes a JSON file, with the version and the version suffix put in.",
    implementation = _names_file_impl,
    attrs = {
        "content": attr.string(mandatory = True, doc = "JSON. In its strings `{version}` stands for the version, `{suffix}` for the suffix with `_` before it."),
        "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the version."),
    } | VERSION_SUFFIX_ATTRS,
)
