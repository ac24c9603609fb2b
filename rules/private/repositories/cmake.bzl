"""The repository of CMake, a program that PyPI carries."""

load(":pip_download.bzl", "PIP_ATTRS", "pip_unpack_wheel")

visibility(["//rules/..."])

# CMake reads the CMake packages of an SDK while its repository is fetched. Only `hip.sdk` needs it.
_BUILD = """\
exports_files(
    ["cmake/data/bin/cmake"],
    visibility = ["//visibility:public"],
)

# What the program finds beside itself.
filegroup(
    name = "modules",
    srcs = glob(["cmake/data/share/cmake-*/**"]),
    visibility = ["//visibility:public"],
)
"""

# 50 MB of other programs, and documentation.
_UNUSED = ["bin/ccmake", "bin/cpack", "bin/ctest", "doc", "share/cmake-{}/Help"]

def _cmake_impl(rctx):
    pip_unpack_wheel(rctx)
    version = ".".join(rctx.attr.requirement.partition("==")[2].split(".")[:2])
    for unused in _UNUSED:
        rctx.delete("cmake/data/" + unused.format(version))
    rctx.execute(["chmod", "0755", "cmake/data/bin/cmake"])
    rctx.file("BUILD.bazel", _BUILD)

cmake = repository_rule(
    doc = "The program CMake as `//:cmake/data/bin/cmake`.",
    implementation = _cmake_impl,
    attrs = PIP_ATTRS,
)
