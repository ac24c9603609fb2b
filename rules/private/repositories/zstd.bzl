"""The source of zstd, which the sdist of the PyPI project `backports.zstd` carries."""

load(":pip_download.bzl", "pip_download_sdist")

visibility(["//rules/..."])

# A library that shows nothing of zstd, without what the levels in lib/pack/segment.py never use: half of the
# time that the compiler takes.
ZSTD_DEFINES = [
    "ZSTDERRORLIB_VISIBLE=",
    "ZSTDLIB_VISIBLE=",
    "ZSTD_EXCLUDE_BTOPT_BLOCK_COMPRESSOR",
    "ZSTD_EXCLUDE_BTULTRA_BLOCK_COMPRESSOR",
    "ZSTD_EXCLUDE_GREEDY_BLOCK_COMPRESSOR",
    "ZSTD_EXCLUDE_LAZY_BLOCK_COMPRESSOR",
    "ZSTD_TRACE=0",
]

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "zstd",
    srcs = glob(["common/*", "compress/*", "decompress/*"]),
    hdrs = ["zstd.h", "zstd_errors.h"],
    copts = ["-O2", "-ffunction-sections", "-fvisibility=hidden"],
    includes = ["."],
    local_defines = {defines},
    visibility = ["//visibility:public"],
)

exports_files(["zstd.h"])
"""

def _zstd_impl(rctx):
    sdist = pip_download_sdist(rctx, rctx.attr.requirement, rctx.attr.hashes, "setuptools.build_meta")
    rctx.extract(sdist.archive, stripPrefix = sdist.folder + "/src/c/zstd/lib")
    rctx.delete(".download")
    rctx.file("BUILD.bazel", _BUILD.format(defines = ZSTD_DEFINES))

zstd = repository_rule(
    doc = "The source of zstd.",
    implementation = _zstd_impl,
    attrs = {
        "hashes": attr.string_list(mandatory = True, doc = "Accepted `sha256:…` digests of the sdist."),
        "requirement": attr.string(mandatory = True, doc = "The pinned requirement, `name==version`."),
    },
)
