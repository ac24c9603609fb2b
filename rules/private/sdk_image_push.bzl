"""sdk_image_push: declares a command that pushes container images."""

load("@rules_python//python:defs.bzl", "py_binary")

visibility(["//rules"])

def sdk_image_push(name, layout, **kwargs):
    """Declares a command that pushes images to a registry: `bazel run //my:push -- docker://HOST/NAME`. It runs oras, which has to be on PATH.

    Args:
        name: name of the target.
        layout: label of what is pushed: an `sdk_image`, or the images of an `sdk_image_layout`.
        **kwargs: further attributes of `py_binary`.
    """
    py_binary(
        name = name,
        srcs = [Label("//wheels/push:tool.py")],
        main = Label("//wheels/push:tool.py"),
        args = ["--layout=$(rootpath {})".format(layout)],
        data = [layout],
        # Otherwise a `tools` package of the calling module, among the data, would hide ours.
        legacy_create_init = 0,
        deps = [Label("//wheels/push")],
        **kwargs
    )
