"""sdk_publish: declares a command that publishes the output of `sdk_index`."""

load("@rules_python//python:defs.bzl", "py_binary")

visibility(["//rules"])

def sdk_publish(name, dist, **kwargs):
    """Declares a command that publishes an index: `bazel run //my:publish -- --to PLACE`. A place is a directory, an S3 bucket or a package index.

    Args:
        name: name of the target.
        dist: the `sdk_index` to publish. It is built first.
        **kwargs: further attributes of `py_binary`.
    """
    py_binary(
        name = name,
        srcs = [Label("//wheels/publish:tool.py")],
        main = Label("//wheels/publish:tool.py"),
        args = ["--dist=$(rootpath {})".format(dist)],
        data = [dist],
        # Otherwise a `tools` package of the calling module, among the data, would hide ours.
        legacy_create_init = 0,
        deps = [Label("//wheels/publish")],
        **kwargs
    )
