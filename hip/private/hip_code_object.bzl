"""hip_code_object: device code as a file, which programs load when they run."""

load("//rules/shared:labels.bzl", "hidden", "shown")
load(":hip_library.bzl", "hip_library")

visibility(["//hip"])

# What the two targets share. The rest belongs to the compilation.
_COMMON = ["compatible_with", "exec_compatible_with", "exec_properties", "features", "restricted_to", "tags", "target_compatible_with", "testonly"]

def _hip_code_object_file_impl(ctx):
    bundles = ctx.attr.library[OutputGroupInfo].hip_code_objects.to_list()
    if len(bundles) != 1:
        fail("{}: the sources make {} files of device code; expected one. Name one source, or set `relocatable = True`, so that the code of several is linked".format(shown(ctx.label), len(bundles)))
    output = ctx.actions.declare_file(ctx.label.name + ".hipfb")
    ctx.actions.symlink(output = output, target_file = bundles[0])
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

_hip_code_object_file = rule(
    doc = "Device code of a library as a file.",
    implementation = _hip_code_object_file_impl,
    attrs = {"library": attr.label(mandatory = True, doc = "The `hip_library`.")},
)

def hip_code_object(name, srcs, visibility = None, **kwargs):
    """Compiles device code to a file for `hipModuleLoad`, as `hipcc --genco` does: `{name}.hipfb`, with code for each GPU target.

    Programs name it in `data`, and find it in their runfiles. The host's code of the sources is not compiled.

    Args:
        name: name of the target.
        srcs: HIP sources, and headers for them alone. Of several sources, the code is linked: set `relocatable = True`.
        visibility: visibility of the target.
        **kwargs: attributes of `hip_library` about compilation.
    """
    common = {key: kwargs[key] for key in _COMMON if key in kwargs}
    hip_library(name = "_" + name + "_hip", srcs = srcs, link_device = True, **(kwargs | hidden(name, common)))
    _hip_code_object_file(name = name, library = "_" + name + "_hip", visibility = visibility, **common)
