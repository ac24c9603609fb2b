"""The action that writes container images: an OCI image layout, as a directory or a tar."""

load("//rules/shared:run_tool.bzl", "run_tool", "tool_args", "tool_attr")

visibility(["//rules/private"])

IMAGE_TOOL_ATTRS = {"_image": tool_attr("//tools/actions/image:image_tool")}

def write_images(ctx, images):
    """Declares the directory with the target's name, and the tar of the same, which is written only if somebody asks for it.

    Args:
        ctx: the rule context; its attributes have IMAGE_TOOL_ATTRS.
        images: list of ImageInfo.

    Returns:
        The default outputs and the output group `archive`, a list of providers.
    """
    layout = ctx.actions.declare_directory(ctx.label.name)
    archive = ctx.actions.declare_file(ctx.label.name + ".tar")
    for option, output in [("--layout", layout), ("--archive", archive)]:
        args = tool_args(ctx)
        args.add_all([image.parts for image in images], format_each = "--image=%s")
        args.add(output.path, format = option + "=%s")
        run_tool(
            ctx,
            tool = ctx.attr._image,
            args = args,
            inputs = depset([image.parts for image in images], transitive = [image.files for image in images]),
            outputs = [output],
            mnemonic = "RocmImage",
            progress_message = "Making image %{label}",
            use_default_shell_env = True,
            # link(2) cannot leave a sandbox, and a cache has the layers' bytes already: see sdk_index.
            execution_requirements = {"no-remote-cache-upload": "", "no-sandbox": "1"},
        )
    return [
        DefaultInfo(files = depset([layout])),
        OutputGroupInfo(archive = depset([archive])),
    ]
