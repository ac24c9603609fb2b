"""like_py_wheel: provides a wheel as `py_wheel` of rules_python does, whose own program is not packaged by Debian."""

load("@rules_python//python:packaging.bzl", "PyWheelInfo")

visibility(["//tests/..."])

def _like_py_wheel_impl(ctx):
    # As with a stamped version: the file of the build has another name than the wheel.
    wheel = ctx.actions.declare_file(ctx.label.name + "-_VERSION_-py3-none-any.whl")
    ctx.actions.symlink(output = wheel, target_file = ctx.file.wheel)
    name_file = ctx.actions.declare_file(ctx.label.name + ".name")
    ctx.actions.write(name_file, ctx.attr.filename or ctx.file.wheel.basename)
    return [
        DefaultInfo(files = depset([wheel])),
        PyWheelInfo(wheel = wheel, name_file = name_file),
    ]

like_py_wheel = rule(
    doc = "Provides a wheel as `py_wheel` does, and as nothing else.",
    implementation = _like_py_wheel_impl,
    attrs = {
        "filename": attr.string(doc = "The true name of the wheel. Default: the file's name."),
        "wheel": attr.label(mandatory = True, allow_single_file = [".whl"], doc = "The wheel."),
    },
)
