"""rocm_shared_library: a file of an SDK, with what programs are linked with and what they run with."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load(":providers.bzl", "RocmSharedLibraryInfo")

visibility(["//hip"])

def _made(ctx, tool, path, mnemonic, progress_message, targets = []):
    """Makes a file out of the library; `targets` are the GPU targets of which it has the device code."""
    output = ctx.actions.declare_file(path)
    args = tool_args(ctx)
    args.add_all(targets, format_each = "--target=%s")
    args.add(output, format = "--output=%s")
    args.add(ctx.file.library, format = "--library=%s")
    run_tool(
        ctx,
        tool = tool,
        args = args,
        inputs = [ctx.file.library],
        outputs = [output],
        mnemonic = mnemonic,
        progress_message = progress_message + ctx.file.library.basename,
    )
    return output

def _interface(ctx):
    """Makes the interface library: all that a linker reads, which is the same for all GPUs.

    Both Bazel and zig accept the suffix .tbd. Linkers look at the content.
    """
    return _made(ctx, ctx.attr._interface_library, "_hip/{}.tbd".format(ctx.label.name), "HipInterface", "Reading the interface of ")

def _sliced(ctx, targets):
    """Makes the library with code for these GPU targets alone. It takes the same place in runfiles as the whole one."""
    return _made(ctx, ctx.attr._slice, ctx.file.library.owner.name, "HipSlice", "Slicing the device code of ", targets)

def _rocm_shared_library_impl(ctx):
    targets = ctx.attr.targets[BuildSettingInfo].value if ctx.attr.targets else []
    library = _sliced(ctx, targets) if targets else ctx.file.library
    return [
        DefaultInfo(files = depset([library])),
        RocmSharedLibraryInfo(interface = _interface(ctx), library = library),
    ]

rocm_shared_library = rule(
    doc = "A shared library of an SDK that lies built in a directory: the file that a `rocm_library` is, or needs.",
    implementation = _rocm_shared_library_impl,
    attrs = {
        "library": attr.label(mandatory = True, allow_single_file = True, doc = "The file, by its SONAME."),
        "targets": attr.label(providers = [BuildSettingInfo], doc = "The `hip_targets` of which it keeps the device code, if it has any; all of it if the setting is empty."),
        "_interface_library": tool_attr("//hip/tools/interface_library:interface_library_tool"),
        "_slice": tool_attr("//hip/tools/slice:slice_tool"),
    },
)
