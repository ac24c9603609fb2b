"""sdk_image_layout: makes container images of layers, in one OCI image layout."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/private/common:providers.bzl", "LayerInfo")
load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "add_arguments", "run_tool", "tool_attr")

visibility(["//rules"])

def _definition(ctx, image):
    """Writes what the BUILD file says about an image; returns the file."""
    version = ctx.attr.version[BuildSettingInfo].value if ctx.attr.version else "{version}"
    labels = {name: value.replace("{version}", version).replace("{image}", image) for name, value in ctx.attr.labels.items()}
    definition = ctx.actions.declare_file("{}.{}.definition.json".format(ctx.label.name, image))
    ctx.actions.write(definition, json.encode({
        "architecture": ctx.attr.architecture,
        "env": ctx.attr.env,
        "labels": labels,
        # A tag cannot contain the `+` of a local version.
        "reference": ctx.attr.reference.replace("{version}", version.replace("+", "-")).replace("{image}", image),
    }))
    return definition

def _parts(ctx, image, layers):
    """Writes what an image is made of; returns the file, and the files that it names."""
    sboms = [layer.sbom for layer in layers if layer.sbom]
    definition = _definition(ctx, image)
    parts = ctx.actions.declare_file("{}.{}.parts".format(ctx.label.name, image))
    args = ctx.actions.args()
    args.set_param_file_format("multiline")
    add_arguments(args, {
        "base": ctx.files.base,
        "definition": definition,
        "descriptor": [layer.descriptor for layer in layers],
        "layer": [layer.layer for layer in layers],
        "sbom": sboms,
    })
    ctx.actions.write(parts, args)
    return parts, [definition] + sboms + [file for layer in layers for file in [layer.layer, layer.descriptor]]

def _sdk_image_layout_impl(ctx):
    if not ctx.attr.images:
        fail("{}: images: names no image; expected one at least. If each GPU has one, give artifacts with device code".format(shown(ctx.label)))
    if len(ctx.files.base) > 1:
        fail("{}: base: {} has {} files; expected one: an OCI image layout, or the tar of a root file system".format(shown(ctx.label), shown(ctx.attr.base.label), len(ctx.files.base)))
    all_parts, inputs = [], list(ctx.files.base)
    for image, numbers in ctx.attr.images.items():
        parts, files = _parts(ctx, image, [ctx.attr.layers[int(number)][LayerInfo] for number in numbers])
        all_parts.append(parts)
        inputs += files
    layout = ctx.actions.declare_directory(ctx.label.name)
    run_tool(
        ctx,
        tool = ctx.attr._image,
        inputs = {"image": all_parts},
        others = inputs,
        outputs = {"layout": layout},
        mnemonic = "RocmImage",
        progress_message = "Making images %{label}",
        use_default_shell_env = True,
        # link(2) cannot leave a sandbox, and a cache has the layers' bytes already: see sdk_index.
        execution_requirements = {"no-cache": "", "no-sandbox": "1"},
    )
    return [DefaultInfo(files = depset([layout]))]

_sdk_image_layout = rule(
    doc = "Makes container images of layers, in one OCI image layout. `sdk_image_layout` declares it.",
    implementation = _sdk_image_layout_impl,
    attrs = {
        "architecture": attr.string(default = "amd64", values = ["amd64", "arm64"], doc = "See the macro."),
        "base": attr.label(allow_files = True, doc = "See the macro."),
        "env": attr.string_dict(doc = "See the macro."),
        "images": attr.string_list_dict(doc = "The images: for each, which of `layers` it has, from the lowest to the highest, as indexes."),
        "labels": attr.string_dict(doc = "See the macro."),
        "layers": attr.label_list(providers = [LayerInfo], doc = "The layers of all images, each once."),
        "reference": attr.string(mandatory = True, doc = "See the macro."),
        "version": attr.label(providers = [BuildSettingInfo], doc = "See the macro."),
        "_image": tool_attr("//tools/actions:image_tool"),
    },
)

def sdk_image_layout(name, images, reference, **kwargs):
    """Makes container images of layers: one OCI image layout with all of them, as a directory with the target's name.

    The layout has a layer that several images share only once, and links to it, so it takes no space of its own. It also has the
    bills of materials of the layers, as artifacts that refer to the image.

    Args:
        name: name of the target.
        images: dict from the name of each image to its layers, each an `sdk_layer`, from the lowest to the highest:
          `{"gfx942": [":core_layer", ":gfx942_layer"]}`.
        reference: name under which engines load an image, `HOST/NAME:TAG`, such as `localhost/acme:{version}-{image}`.
          `{image}` stands for the image's name, `{version}` for `version`, with `-` instead of `+`.
        **kwargs: all optional, and the same for all images: `base`, an OCI image layout with one image,
          or the tar of a root file system (without it, or if the target has no files, the images begin empty); `architecture`,
          `amd64` or `arm64` (the build stops if the base or a layer is for another one); `version`, a build setting with the
          version; `labels`, added to the labels of the base, in which `{version}` and `{image}` stand for the same; `env`,
          environment variables of a container, added to those in the base; and attributes of any rule.
    """
    layers = {native.package_relative_label(layer): None for one in images.values() for layer in one}.keys()
    numbers = {layer: str(number) for number, layer in enumerate(layers)}
    _sdk_image_layout(
        name = name,
        images = {image: [numbers[native.package_relative_label(layer)] for layer in one] for image, one in images.items()},
        layers = layers,
        reference = reference,
        **kwargs
    )
