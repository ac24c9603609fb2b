"""zstd as a shared library for what runs while repositories are fetched: Python has none before 3.14."""

load(":zig.bzl", "TARGETS")
load(":zstd.bzl", "ZSTD_DEFINES")

visibility(["//rules/..."])

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
    defines = ["-D" + one for one in ZSTD_DEFINES]
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
