"""rocm_init_py: writes the module that loads ROCm's libraries before a framework's extensions."""

load("//rules/shared:names.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_attr")

visibility(["//rules"])

def _rocm_init_py_impl(ctx):
    if not (ctx.attr.preload or ctx.attr.extensions or ctx.attr.check_version):
        fail("{}: preload, extensions and check_version are not set; expected at least one of them".format(shown(ctx.label)))
    if ctx.attr.fail_on_version_mismatch and not ctx.attr.check_version:
        fail("{}: fail_on_version_mismatch needs check_version, such as \"7.10.*\"".format(shown(ctx.label)))
    output = ctx.actions.declare_file(ctx.attr.out)
    run_tool(
        ctx,
        tool = ctx.attr._init_py,
        inputs = {"extension": ctx.files.extensions},
        values = {
            "check_version": ctx.attr.check_version,
            "fail_on_version_mismatch": ctx.attr.fail_on_version_mismatch,
            "preload": ctx.attr.preload,
        },
        outputs = {"output": output},
        mnemonic = "RocmInitPy",
        progress_message = "Writing %{output}",
    )
    return [DefaultInfo(files = depset([output]))]

rocm_init_py = rule(
    doc = """Writes a module for a framework's wheel. Call it before importing the first extension module:

    from . import _rocm_init
    _rocm_init.initialize()

It checks the version of the installed ROCm packages and loads the libraries that the extensions need. The extensions
then need neither an RPATH to those packages nor `LD_LIBRARY_PATH`. The wheel must require `rocm`, with the extras that
bring the libraries. Use the target as a source of a `py_library`.""",
    implementation = _rocm_init_py_impl,
    attrs = {
        "check_version": attr.string(doc = "Expected version of ROCm; `*` matches any characters: `7.10.*`. Empty accepts any version."),
        "extensions": attr.label_list(allow_files = True, doc = "Extension modules. The ROCm libraries that they need (NEEDED entries) are loaded after the libraries of `preload`."),
        "fail_on_version_mismatch": attr.bool(doc = "Raise RuntimeError if another version is installed, instead of warning."),
        "out": attr.string(default = "_rocm_init.py", doc = "Path of the module, relative to the package of the target."),
        "preload": attr.string_list(doc = "Libraries to load, in this order, by the short names that `rocm_sdk.find_libraries` takes: `amdhip64`."),
        "_init_py": tool_attr("//tools/actions:init_py_tool"),
    },
)
