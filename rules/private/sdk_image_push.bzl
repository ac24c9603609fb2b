"""sdk_image_push: declares a command that pushes container images."""

load("@rules_python//python:defs.bzl", "py_binary")

visibility(["//rules"])

def sdk_image_push(name, images, **kwargs):
    """Declares a command that pushes images to a registry: `bazel run //my:push -- docker://HOST/NAME`. It runs oras, which has to be on PATH.

    Args:
        name: name of the target.
        images: the `sdk_image` targets to push. They are built first.
        **kwargs: further attributes of `py_binary`.
    """
    py_binary(
        name = name,
        srcs = [Label("//tools/commands/push:tool.py")],
        main = Label("//tools/commands/push:tool.py"),
        args = ["--image=$(rootpath {})".format(image) for image in images],
        data = images,
        # Otherwise a `tools` package of the calling module, among the data, would hide ours.
        legacy_create_init = 0,
        deps = [Label("//tools/commands/push")],
        **kwargs
    )
