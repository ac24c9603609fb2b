"""Repositories of libraries in C, which sdists of PyPI carry: libdeflate and zstd."""

load(":pip_download.bzl", "PIP_ATTRS", "pip_download_sdist")
load(":zig.bzl", "TARGETS")

visibility(["//rules/..."])

_LIBDEFLATE = """\
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
    rctx.file("BUILD.bazel", _LIBDEFLATE)

libdeflate = repository_rule(
    doc = "The source of libdeflate, patched so that what it makes can be joined.",
    implementation = _libdeflate_impl,
    attrs = PIP_ATTRS | {
        "_patch": attr.label(default = "//lib/deflate:libdeflate.patch", allow_single_file = True),
    },
)

# A library that shows nothing of zstd, without what the levels in lib/pack/segment.py never use: half of the
# time that the compiler takes.
_DEFINES = [
    "ZSTDERRORLIB_VISIBLE=",
    "ZSTDLIB_VISIBLE=",
    "ZSTD_EXCLUDE_BTOPT_BLOCK_COMPRESSOR",
    "ZSTD_EXCLUDE_BTULTRA_BLOCK_COMPRESSOR",
    "ZSTD_EXCLUDE_GREEDY_BLOCK_COMPRESSOR",
    "ZSTD_EXCLUDE_LAZY_BLOCK_COMPRESSOR",
    "ZSTD_TRACE=0",
]

_ZSTD = """\
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
    rctx.file("BUILD.bazel", _ZSTD.format(defines = _DEFINES))

zstd = repository_rule(
    doc = "The source of zstd.",
    implementation = _zstd_impl,
    attrs = PIP_ATTRS,
)

# zstd as a shared library for what runs while repositories are fetched: Python has none before 3.14.
_COMPILE = ["-c", "-O2", "-ffunction-sections", "-fno-sanitize=undefined", "-fPIC", "-fvisibility=hidden"]

# Without libc, which zig would have to compile. Asked for that, it finds no headers either: hence two steps.
_LINK = ["-shared", "-nostdlib", "-rtlib=none", "-s", "-Wl,--gc-sections"]

def _zig_cc(rctx, arguments):
    cpu = {"aarch64": "aarch64", "amd64": "x86_64", "x86_64": "x86_64"}[rctx.os.arch]
    result = rctx.execute(
        [rctx.path(rctx.attr._zig), "cc", "-target", TARGETS["linux_" + cpu]] + arguments,
        environment = {"ZIG_GLOBAL_CACHE_DIR": ".zig-cache", "ZIG_LOCAL_CACHE_DIR": ".zig-cache"},
        timeout = 1800,
    )
    if result.return_code != 0:
        fail("{}: zig could not compile {}: {}".format(rctx.name, rctx.attr._source, result.stderr.strip()))

def _zstd_codec_impl(rctx):
    source = rctx.path(rctx.attr._source)
    rctx.watch(source)
    zstd = rctx.path(rctx.attr._zstd).dirname
    files = [file for folder in ("common", "compress", "decompress") for file in zstd.get_child(folder).readdir()]
    sources = [source] + sorted([str(file) for file in files if not file.basename.endswith(".h")])
    rctx.report_progress("compiling zstd")
    defines = ["-D" + one for one in _DEFINES]
    _zig_cc(rctx, _COMPILE + defines + ["-I", zstd, "-o", "zstd_codec.o"] + sources)  # zig joins the objects of all.
    _zig_cc(rctx, _LINK + ["-o", "zstd_codec.so", "zstd_codec.o"])
    rctx.delete("zstd_codec.o")
    rctx.delete(".zig-cache")
    rctx.file("BUILD.bazel", 'exports_files(["zstd_codec.so"], visibility = ["//visibility:public"])\n')

zstd_codec = repository_rule(
    doc = "`//:zstd_codec.so`, out of the same source as `//lib/device:zstd_codec.so`, without a build.",
    implementation = _zstd_codec_impl,
    attrs = {
        "_source": attr.label(default = "//lib/device:zstd_codec.c", allow_single_file = True),
        "_zig": attr.label(default = "@zig//:ziglang/zig", allow_single_file = True),
        "_zstd": attr.label(default = "@zstd//:zstd.h", allow_single_file = True),
    },
)
