"""hip_binary and hip_test: programs out of HIP sources, linked by the host's toolchain for C++."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_test")
load("//rules/shared:labels.bzl", "hidden")
load(":hip_library.bzl", "hip_library")

visibility(["//hip"])

# What belongs to the compilation, and what the two targets share.
_COMPILATION = ["compress", "copts", "defines", "device_copts", "hdrs", "host_copts", "includes", "local_defines", "relocatable", "targets", "textual_hdrs"]
_COMMON = ["compatible_with", "exec_compatible_with", "features", "restricted_to", "tags", "target_compatible_with", "testonly", "toolchains"]

def _program(name, program, srcs, deps, attributes):
    """Declares a library of the sources, and what links it to a program."""
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
    _program(name, cc_binary, srcs, deps, kwargs)

def hip_test(name, srcs = [], deps = [], **kwargs):
    """Declares a test that is a HIP program.

    Args:
        name: name of the target.
        srcs: HIP sources, and headers that only they include.
        deps: libraries: of C++, of HIP, and of `@rocm`.
        **kwargs: attributes of `hip_library` about compilation, and of `cc_test` about the program.
    """
    _program(name, cc_test, srcs, deps, kwargs)
