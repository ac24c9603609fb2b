"""The source of libdeflate, which the sdist of the PyPI project `deflate` carries."""

load(":pip_download.bzl", "pip_download_sdist")

visibility(["//rules/..."])

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

# Sources that deflater.c and inflater.c of //lib/deflate include.
cc_library(
    name = "deflate",
    includes = ["."],
    textual_hdrs = glob(["*.h", "lib/*.h", "lib/*/*.h"]) + ["lib/deflate_compress.c", "lib/deflate_decompress.c"],
    visibility = ["//visibility:public"],
)

cc_library(
    name = "crc32",
    alwayslink = True,  # Nothing but Python calls it.
    copts = ["-O2"],
    srcs = glob(["lib/*/cpu_features.c"]) + ["lib/crc32.c", "lib/utils.c"],
    # zig's clang wants more than this code says to compile it for AVX-512. Every variant gives the same CRC.
    local_defines = ["LIBDEFLATE_ASSEMBLER_DOES_NOT_SUPPORT_VPCLMULQDQ"],
    textual_hdrs = glob(["*.h", "lib/*.h", "lib/*/*.h"]),
    visibility = ["//visibility:public"],
)
"""

def _libdeflate_impl(rctx):
    sdist = pip_download_sdist(rctx, rctx.attr.requirement, rctx.attr.hashes, "scikit_build_core.build")
    rctx.extract(sdist.archive, stripPrefix = sdist.folder + "/libdeflate")
    rctx.delete(".download")
    rctx.patch(rctx.attr._patch, strip = 1)
    rctx.file("BUILD.bazel", _BUILD)

libdeflate = repository_rule(
    doc = "The source of libdeflate, patched so that what it makes can be joined.",
    implementation = _libdeflate_impl,
    attrs = {
        "hashes": attr.string_list(mandatory = True, doc = "Accepted `sha256:…` digests of the sdist."),
        "requirement": attr.string(mandatory = True, doc = "The pinned requirement, `name==version`."),
        "_patch": attr.label(default = "//lib/deflate:libdeflate.patch", allow_single_file = True),
    },
)
