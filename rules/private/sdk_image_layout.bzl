"""sdk_image_layout: puts container images into one OCI image layout."""

load("//rules/private/common:image_action.bzl", "IMAGE_TOOL_ATTRS", "write_images")
load("//rules/private/common:providers.bzl", "ImageInfo")
load("//rules/shared:labels.bzl", "shown")

visibility(["//rules"])

def _sdk_image_layout_impl(ctx):
    if not ctx.attr.images:
        fail("{}: images: names no image; expected one at least. Name an sdk_image; if each GPU has one, give artifacts with device code".format(shown(ctx.label)))
    return write_images(ctx, [image[ImageInfo] for image in ctx.attr.images])

sdk_image_layout = rule(
    doc = """Puts container images into one OCI image layout, as a directory with the target's name.

The layout has each image under its tag, and a layer that several have only once. So it is quicker than a layout per image, and
small to keep and to move. The output group `archive` has the same as a tar for `docker load` and `podman load`.""",
    implementation = _sdk_image_layout_impl,
    attrs = {
        "images": attr.label_list(mandatory = True, providers = [ImageInfo], doc = "Each an `sdk_image`, with a `reference` that no other has."),
    } | IMAGE_TOOL_ATTRS,
)
