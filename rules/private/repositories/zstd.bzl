"""The source of zstd in one file, which the sdist of the PyPI project `zstandard` carries."""

load(":pip_download.bzl", "pip_download_sdist")

visibility(["//rules/private/repositories/..."])

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

# Sources that //tools/lib/device:zstd_codec.c includes.
cc_library(
    name = "zstd",
    includes = ["."],
    textual_hdrs = [
        "zdict.h",
        "zstd.c",
        "zstd.h",
        "zstd_errors.h",
    ],
    visibility = ["//visibility:public"],
)
"""

def _zstd_impl(rctx):
    sdist = pip_download_sdist(rctx, rctx.attr.requirement, rctx.attr.hashes, "setuptools.build_meta")
    rctx.extract(sdist, stripPrefix = sdist.basename.removesuffix(".tar.gz") + "/zstd")
    rctx.delete(".download")
    rctx.file("BUILD.bazel", _BUILD)

zstd = repository_rule(
    doc = "The source of zstd, as one file.",
    implementation = _zstd_impl,
    attrs = {
        "hashes": attr.string_list(mandatory = True, doc = "Accepted `sha256:…` digests of the sdist."),
        "requirement": attr.string(mandatory = True, doc = "The pinned requirement, `name==version`."),
    },
)
