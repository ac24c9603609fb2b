"""The zig toolchain: one wheel that compiles C for every target, so that no compiler of the host is used.

It links programs and libraries without libc (`-nostdlib`), which is all that the packages are made with.
"""

load(":pip_download.bzl", "PIP_ATTRS", "pip_unpack_wheel")

visibility(["//rules/..."])

# Platform (OS and CPU as @platforms names them) -> zig's name of the target.
# glibc 2.17 is the oldest that manylinux (PEP 600) still names.
TARGETS = {
    "linux_aarch64": "aarch64-linux-gnu.2.17",
    "linux_x86_64": "x86_64-linux-gnu.2.17",
    "windows_x86_64": "x86_64-windows-gnu",
}

_HEAD = """\
load("@rules_cc//cc:defs.bzl", "cc_toolchain")
load("{config}", "zig_cc_toolchain_config")

package(default_visibility = ["//visibility:public"])

_TOOL = ["ziglang/zig"]

# The headers of all targets' libc, and of the compiler.
filegroup(
    name = "compiler_files",
    srcs = _TOOL + glob([
        "ziglang/lib/include/**",
        "ziglang/lib/libc/include/aarch64-linux-any/**",
        "ziglang/lib/libc/include/aarch64-linux-gnu/**",
        "ziglang/lib/libc/include/any-linux-any/**",
        "ziglang/lib/libc/include/any-windows-any/**",
        "ziglang/lib/libc/include/generic-glibc/**",
        "ziglang/lib/libc/include/x86-linux-any/**",
        "ziglang/lib/libc/include/x86-linux-gnu/**",
    ]),
)

# A link that names no libc needs the program alone, and a library directory to be there. Start files and stubs of libc,
# which zig would compile, are 15,000 files that each action would have to be shown.
filegroup(
    name = "linux_linker_files",
    srcs = _TOOL + ["ziglang/lib/include/stddef.h"],
)

# What kernel32.dll exports, which is all that our programs for Windows need.
filegroup(
    name = "windows_linker_files",
    srcs = [
        ":linux_linker_files",
        "ziglang/lib/libc/mingw/lib-common/kernel32.def.in",
    ] + glob(["ziglang/lib/libc/mingw/def-include/**"]),
)

filegroup(
    name = "files",
    srcs = [
        ":compiler_files",
        ":windows_linker_files",
    ],
)

filegroup(name = "empty")
"""

_TOOLCHAIN = """
zig_cc_toolchain_config(
    name = "{os}_{cpu}_config",
    cpu = "{cpu}",
    os = "{os}",
    target = "{target}",
    tool = "ziglang/zig",
)

cc_toolchain(
    name = "{os}_{cpu}_cc_toolchain",
    all_files = ":files",
    ar_files = ":{os}_linker_files",
    as_files = ":compiler_files",
    compiler_files = ":compiler_files",
    dwp_files = ":empty",
    linker_files = ":{os}_linker_files",
    objcopy_files = ":{os}_linker_files",
    strip_files = ":{os}_linker_files",
    # The first flag is a subcommand, so flags cannot go to a file.
    supports_param_files = False,
    toolchain_config = ":{os}_{cpu}_config",
)

toolchain(
    name = "{os}_{cpu}",
    exec_compatible_with = ["@platforms//os:linux", "@platforms//cpu:{exec_cpu}"],
    target_compatible_with = ["@platforms//os:{os}", "@platforms//cpu:{cpu}"],
    toolchain = ":{os}_{cpu}_cc_toolchain",
    toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
)
"""

def _zig_impl(rctx):
    pip_unpack_wheel(rctx)
    rctx.execute(["chmod", "0755", "ziglang/zig"])
    exec_cpu = {"aarch64": "aarch64", "amd64": "x86_64", "x86_64": "x86_64"}[rctx.os.arch]
    config = str(Label("//tools/zig:cc_toolchain_config.bzl"))
    rctx.file("BUILD.bazel", _HEAD.format(config = config) + "".join([
        _TOOLCHAIN.format(os = platform.partition("_")[0], cpu = platform.partition("_")[2], target = target, exec_cpu = exec_cpu)
        for platform, target in TARGETS.items()
    ]))

zig = repository_rule(
    doc = "The zig compiler and a `cc_toolchain` for each target.",
    implementation = _zig_impl,
    attrs = PIP_ATTRS,
)
