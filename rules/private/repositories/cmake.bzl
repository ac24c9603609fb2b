"""CMake, which reads the CMake packages of an SDK while its repository is fetched. Only `hip.sdk` needs it."""

load(":pip_download.bzl", "pip_download_wheel")

visibility(["//rules/..."])

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
    wheel = pip_download_wheel(rctx, rctx.attr.requirement, rctx.attr.hashes)
    rctx.extract(wheel)
    rctx.delete(".download")
    version = ".".join(rctx.attr.requirement.partition("==")[2].split(".")[:2])
    for unused in _UNUSED:
        rctx.delete("cmake/data/" + unused.format(version))
    rctx.execute(["chmod", "0755", "cmake/data/bin/cmake"])
    rctx.file("BUILD.bazel", _BUILD)

cmake = repository_rule(
    doc = "The program CMake as `//:cmake/data/bin/cmake`.",
    implementation = _cmake_impl,
    attrs = {
        "hashes": attr.string_list(mandatory = True, doc = "Accepted `sha256:…` digests of the wheel."),
        "requirement": attr.string(mandatory = True, doc = "The pinned requirement, `cmake==version`."),
    },
)
