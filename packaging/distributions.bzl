"""What installed code knows of the build: names_file, what it called its packages; version_module, their version."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules:providers.bzl", "VERSION_SUFFIX_ATTRS", "with_suffix")

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

def _version_module_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".py")
    ctx.actions.write(output, '"""The version of this package."""\n\n__version__ = "{}"\n'.format(ctx.attr.version[BuildSettingInfo].value))
    return [DefaultInfo(files = depset([output]))]

version_module = rule(
    doc = "Writes a Python module with the version.",
    implementation = _version_module_impl,
    attrs = {
        "version": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the version."),
    },
)
