"""hip_toolchain: declares the compiler of an SDK as a toolchain for HIP programs."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/shared:run_tool.bzl", "tool_attr")
load("//tools/python:py_tool.bzl", "PyToolInfo")
load(":providers.bzl", "HipToolchainInfo")

visibility(["//hip"])

def _hip_toolchain_impl(ctx):
    root = ctx.file.clang.path[:-len(ctx.attr.clang_path)].rstrip("/")
    libraries = {file.dirname: None for file in ctx.files.libraries}
    return [platform_common.ToolchainInfo(hip = HipToolchainInfo(
        bundler = ctx.file.bundler,
        clang = ctx.file.clang,
        compile = ctx.attr._compile[PyToolInfo],
        device_libraries = "{}/{}".format(root, ctx.attr.device_libraries),
        # The programs find their libraries also where no search path in them says where they are.
        environment = {"LD_LIBRARY_PATH": ":".join(libraries.keys())} if libraries else {},
        files = depset([ctx.file.clang, ctx.file.lld] + ctx.files.files + ctx.files.libraries),
        headers = ctx.attr.headers,
        lld = ctx.file.lld,
        profile_runtime = ctx.file.profile_runtime,
        resource_directory = "{}/{}".format(root, ctx.attr.resource_directory),
        root = root,
        runtime = ctx.attr.runtime[CcInfo],
        targets = ctx.attr.targets[BuildSettingInfo].value,
    ))]

hip_toolchain = rule(
    doc = "The compiler of HIP programs, as the repository `@rocm` declares it.",
    implementation = _hip_toolchain_impl,
    attrs = {
        "bundler": attr.label(mandatory = True, allow_single_file = True, cfg = "exec", doc = "clang-offload-bundler."),
        "clang": attr.label(mandatory = True, allow_single_file = True, cfg = "exec", doc = "The compiler."),
        "clang_path": attr.string(mandatory = True, doc = "The compiler's path in the SDK's install prefix."),
        "device_libraries": attr.string(mandatory = True, doc = "Directory of the device libraries in the install prefix."),
        "files": attr.label_list(allow_files = True, cfg = "exec", doc = "What the compiler reads: its headers, the device libraries."),
        "headers": attr.string_dict(doc = "Directory of headers, such as `rocblas` -> label of their library, for messages."),
        "libraries": attr.label_list(allow_files = True, cfg = "exec", doc = "Libraries of the programs."),
        "lld": attr.label(mandatory = True, allow_single_file = True, cfg = "exec", doc = "The linker of device code."),
        "profile_runtime": attr.label(allow_single_file = [".a"], doc = "The library that writes the counts of coverage (compiler-rt), if the SDK has it."),
        "resource_directory": attr.string(mandatory = True, doc = "The compiler's resource directory in the install prefix."),
        "runtime": attr.label(mandatory = True, providers = [CcInfo], doc = "The HIP runtime."),
        "targets": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The `hip_targets` to compile for."),
        # Here, and not in the rules that compile: so it runs where the compiler does.
        "_compile": tool_attr("//hip/tools/compile:compile_tool"),
    },
)
