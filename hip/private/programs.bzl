"""Programs out of HIP sources, linked by the host's toolchain for C++, and device code as a file that programs load."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_test")
load("//rules/shared:names.bzl", "hidden", "shown")
load(":hip_library.bzl", "hip_library")

visibility(["//hip", "//hip/tests"])

# What belongs to the compilation, and what the two targets share.
_COMPILATION = ["compress", "copts", "defines", "device_copts", "hdrs", "host_copts", "implementation_deps", "include_prefix", "includes", "local_defines", "relocatable", "strip_include_prefix", "targets", "textual_hdrs"]
_COMMON = ["compatible_with", "exec_compatible_with", "features", "restricted_to", "tags", "target_compatible_with", "testonly", "toolchains"]

# What belongs to a program, and what only tests have.
_PROGRAM = ["additional_linker_inputs", "args", "aspect_hints", "data", "deprecation", "dynamic_deps", "env", "exec_properties", "link_extra_lib", "linkopts", "linkshared", "linkstatic", "malloc", "package_metadata", "stamp", "visibility"]
_TEST = ["env_inherit", "flaky", "local", "shard_count", "size", "timeout"]

# Attributes of `cc_binary` about the compilation of C and C++ -> what HIP sources have.
_INSTEAD = {
    "additional_compiler_inputs": "`textual_hdrs` for files that sources include, or `data` for files that options name",
    "conlyopts": "`copts`, because all sources are HIP",
    "cxxopts": "`copts`, because all sources are HIP",
    "nocopts": "`copts` with the option that is to win",
}

def attribute_refusal(kind, attribute):
    """Returns why `hip_binary` or `hip_test` refuses an attribute.

    Args:
        kind: string: `hip_binary` or `hip_test`.
        attribute: string.

    Returns:
        string, empty for an attribute that acts.
    """
    if attribute in _COMPILATION + _COMMON + _PROGRAM + (_TEST if kind == "hip_test" else []):
        return ""
    expected = _INSTEAD.get(attribute, "one of `hip_library` about compilation, or of `{}` about the program. Correct the name".format(kind.replace("hip", "cc")))
    return "{}: {} has no such attribute; expected {}".format(attribute, kind, expected)

def _program(kind, name, program, srcs, deps, attributes):
    """Declares a library of the sources, and what links it to a program."""
    for attribute in attributes:
        refused = attribute_refusal(kind, attribute)
        if refused:
            fail("{}: {}".format(shown(native.package_relative_label(name)), refused))
    common = {key: attributes[key] for key in _COMMON if key in attributes}
    if "exec_properties" in attributes:
        # Properties of groups, such as `test.Pool`, are for actions of the program. The library has no such group.
        common["exec_properties"] = {key: value for key, value in attributes["exec_properties"].items() if "." not in key}
    compilation = {key: attributes.pop(key) for key in _COMPILATION if key in attributes}
    data = {"data": attributes["data"]} if "data" in attributes else {}  # which options may name
    hip_library(
        name = "_" + name + "_hip",
        alwayslink = True,
        link_device = True,
        srcs = srcs,
        deps = deps,
        **(compilation | data | hidden(name, common))
    )
    program(name = name, deps = ["_" + name + "_hip"], **attributes)

def hip_binary(name, srcs = [], deps = [], **kwargs):
    """Declares a HIP program: compiles its sources as `hip_library` does, and links it as `cc_binary`.

    With `linkshared = True` it is a shared library, such as an extension module of Python.

    Args:
        name: name of the target.
        srcs: HIP sources, and headers that only they include.
        deps: libraries: of C++, of HIP, and of `@rocm`.
        **kwargs: attributes of `hip_library` about compilation, and of `cc_binary` about the program.
    """
    _program("hip_binary", name, cc_binary, srcs, deps, kwargs)

def hip_test(name, srcs = [], deps = [], **kwargs):
    """Declares a test that is a HIP program.

    Args:
        name: name of the target.
        srcs: HIP sources, and headers that only they include.
        deps: libraries: of C++, of HIP, and of `@rocm`.
        **kwargs: attributes of `hip_library` about compilation, and of `cc_test` about the program.
    """
    _program("hip_test", name, cc_test, srcs, deps, kwargs)

# What the two targets share. The rest belongs to the compilation.
_FILE_COMMON = ["compatible_with", "exec_compatible_with", "exec_properties", "features", "restricted_to", "tags", "target_compatible_with", "testonly"]

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
    common = {key: kwargs[key] for key in _FILE_COMMON if key in kwargs}
    hip_library(name = "_" + name + "_hip", srcs = srcs, link_device = True, **(kwargs | hidden(name, common)))
    _hip_code_object_file(name = name, library = "_" + name + "_hip", visibility = visibility, **common)
