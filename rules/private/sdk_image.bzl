"""sdk_image: makes a container image of layers."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/common:image_action.bzl", "IMAGE_TOOL_ATTRS", "write_images")
load("//rules/private/common:providers.bzl", "ImageInfo", "LayerInfo")
load("//rules/shared:labels.bzl", "shown")

visibility(["//rules"])

def _definition(ctx):
    """Writes what the BUILD file says about the image; returns the file."""
    version = ctx.attr.version[BuildSettingInfo].value if ctx.attr.version else "{version}"
    definition = ctx.actions.declare_file(ctx.label.name + ".definition.json")
    ctx.actions.write(definition, json.encode({
        "annotations": {name: value.replace("{version}", version) for name, value in ctx.attr.annotations.items()},
        "architecture": ctx.attr.architecture,
        "cmd": ctx.attr.cmd,
        "entrypoint": ctx.attr.entrypoint,
        "env": ctx.attr.env,
        "labels": {name: value.replace("{version}", version) for name, value in ctx.attr.labels.items()},
        # A tag cannot contain the `+` of a local version.
        "reference": ctx.attr.reference.replace("{version}", version.replace("+", "-")),
        "user": ctx.attr.user,
        "working_dir": ctx.attr.working_dir,
    }))
    return definition

def _sdk_image_impl(ctx):
    if len(ctx.files.base) > 1:
        fail("{}: base: {} has {} files; expected one: an OCI image layout, as a directory or a tar, or the tar of a root file system".format(shown(ctx.label), shown(ctx.attr.base.label), len(ctx.files.base)))
    layers = [layer[LayerInfo] for layer in ctx.attr.layers]
    sboms = [layer.sbom for layer in layers if layer.sbom]
    definition = _definition(ctx)
    parts = ctx.actions.declare_file(ctx.label.name + ".parts")
    args = ctx.actions.args()
    args.set_param_file_format("multiline")
    args.add(definition, format = "--definition=%s")
    args.add_all(ctx.files.base, format_each = "--base=%s", expand_directories = False)
    args.add_all([layer.layer for layer in layers], format_each = "--layer=%s")
    args.add_all([layer.descriptor for layer in layers], format_each = "--descriptor=%s")
    args.add_all(sboms, format_each = "--sbom=%s")
    ctx.actions.write(parts, args)
    files = [definition] + ctx.files.base + sboms + [file for layer in layers for file in [layer.layer, layer.descriptor]]
    image = ImageInfo(files = depset(files), parts = parts)
    return [image] + write_images(ctx, [image])

sdk_image = rule(
    doc = """Makes a container image: an OCI image layout, as a directory with the target's name.

The layers are linked to, so an image takes no space of its own. But Bazel digests them again: of many images, make one
`sdk_image_layout`. The layout also has the bills of materials of the layers, as artifacts that refer to the image. The output group `archive` has the same as a tar for
`docker load`, `podman load` and `ctr images import`. Only then are the layers copied.""",
    implementation = _sdk_image_impl,
    attrs = {
        "annotations": attr.string_dict(doc = "Annotations of the manifest. `{version}` stands for `version`."),
        "architecture": attr.string(default = "amd64", values = ["amd64", "arm64"], doc = "CPU of the image. The build stops if the base or a layer is for another one."),
        "base": attr.label(allow_files = True, doc = "Base image: an OCI image layout, as a directory or a tar, or the tar of a root file system. Without it, or if the target has no files, the image begins empty."),
        "cmd": attr.string_list(doc = "Arguments that a container runs if none are given."),
        "entrypoint": attr.string_list(doc = "Program that a container runs. It replaces `cmd` of the base, too."),
        "env": attr.string_dict(doc = "Environment variables of a container, added to those in the base."),
        "labels": attr.string_dict(doc = "Labels of the image, added to the labels of the base. `{version}` stands for `version`."),
        "layers": attr.label_list(mandatory = True, providers = [LayerInfo], doc = "Each an `sdk_layer`, from the lowest to the highest."),
        "reference": attr.string(mandatory = True, doc = "Name under which engines load the image, `HOST/NAME:TAG`, such as `localhost/acme:{version}`. `{version}` stands for `version`, with `-` instead of `+`."),
        "user": attr.string(doc = "User of a container; if empty, the base's user."),
        "version": attr.label(providers = [BuildSettingInfo], doc = "Build setting with the version."),
        "working_dir": attr.string(doc = "Working directory of a container; if empty, the base's."),
    } | IMAGE_TOOL_ATTRS,
)
