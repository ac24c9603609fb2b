"""py_tool, py_program: a Python program for actions, as one precompiled zip application.

A plain `py_binary` starts `env python3` (a look on PATH) and brings a few hundred files
into every sandbox. This rule runs the toolchain's interpreter, which is an input, on one
archive that holds the program, its dependencies and their compiled code. Shared libraries
and JSON files among the data come along; a loader's `get_data` reaches them.
"""

load("@rules_python//python:defs.bzl", "PyInfo", "py_library")

visibility(["//develop/...", "//hip/...", "//lib/...", "//packaging/...", "//rules/...", "//tools/...", "//wheels/..."])

PyToolInfo = provider(
    doc = "A Python program in one file, with the interpreter that runs it.",
    fields = {
        "archive": "File: the zip application.",
        "interpreter": "File or string: the interpreter, as an input or as an absolute path.",
        "runtime_files": "depset of File: what the interpreter needs beside itself.",
    },
)

_PYTHON_TOOLCHAIN = "@rules_python//python:toolchain_type"

def _runfiles_path_line(file):
    path = file.short_path
    path = path.removeprefix("../") if path.startswith("../") else "_main/" + path
    return "{}={}".format(path, file.path) if file.extension in ("json", "py", "so") else None

def _sources(info):
    """Returns the modules of a library, also modules that `precompile_source_retention = "omit_source"` keeps only compiled."""

    # Since rules_python 1.1. Rules that know nothing of it leave it empty.
    original = getattr(info, "transitive_original_sources", depset())
    return depset(transitive = [info.transitive_sources, original])

def _py_tool_impl(ctx):
    runtime = ctx.toolchains[_PYTHON_TOOLCHAIN].py3_runtime
    interpreter = runtime.interpreter or runtime.interpreter_path
    runtime_files = depset(
        [runtime.interpreter] if runtime.interpreter else [],
        transitive = [runtime.files] if runtime.files else [],
    )
    archive = ctx.actions.declare_file(ctx.label.name + ".pyz")
    sources = depset(transitive = [_sources(dep[PyInfo]) for dep in ctx.attr.deps])
    imports = depset(transitive = [dep[PyInfo].imports for dep in ctx.attr.deps])
    data = depset(transitive = [dep[DefaultInfo].default_runfiles.files for dep in ctx.attr.deps])
    members = depset(transitive = [sources, data])

    args = ctx.actions.args()
    args.add(archive, format = "--output=%s")
    args.add(ctx.attr.main, format = "--main=%s")
    args.add_all(imports, format_each = "--import-root=%s")
    args.add_all(members, map_each = _runfiles_path_line)
    args.set_param_file_format("multiline")
    args.use_param_file("@%s", use_always = True)
    ctx.actions.run(
        executable = interpreter,
        arguments = ["-I", "-S", "-B", ctx.file._builder.path, args],
        inputs = depset([ctx.file._builder], transitive = [members]),
        tools = runtime_files,
        outputs = [archive],
        mnemonic = "PyTool",
        progress_message = "Assembling tool %{label}",
        toolchain = _PYTHON_TOOLCHAIN,
    )
    return [
        DefaultInfo(files = depset([archive])),
        PyToolInfo(archive = archive, interpreter = interpreter, runtime_files = runtime_files),
    ]

py_tool = rule(
    doc = "A Python program for actions, as one zip application.",
    implementation = _py_tool_impl,
    attrs = {
        "deps": attr.label_list(mandatory = True, providers = [PyInfo], doc = "Libraries that the program consists of."),
        "main": attr.string(mandatory = True, doc = "Dotted name of the module whose `main(argv)` is called."),
        "_builder": attr.label(default = "//tools/python:zip_application.py", allow_single_file = True),
    },
    toolchains = [_PYTHON_TOOLCHAIN],
    provides = [PyToolInfo],
)

def py_program(name, deps):
    """Declares the program of a folder: `{name}`, a library of the folder's modules, and `{name}_tool`, its `tool.py`.

    Args:
        name: name of the folder, and of the library.
        deps: libraries that the modules import.
    """
    py_library(
        name = name,
        srcs = native.glob([name + "/*.py"], exclude = ["**/*_test.py"]),
        visibility = ["//visibility:public"],
        deps = deps,
    )
    py_tool(
        name = name + "_tool",
        main = "{}.{}.tool".format(native.package_name().replace("/", "."), name),
        visibility = ["//visibility:public"],
        deps = [name],
    )
