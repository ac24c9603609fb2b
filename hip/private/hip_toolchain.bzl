"""The toolchain that compiles HIP: its rules, how rules find it or the reason why there is none, and `requires_hip`."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/shared:names.bzl", "shown", "written")
load("//rules/shared:run_tool.bzl", "tool_attr")
load("//tools/python:py_tool.bzl", "PyToolInfo")
load(":providers.bzl", "HipToolchainInfo")

visibility(["//hip", "//hip/private"])

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
        "resource_directory": attr.string(mandatory = True, doc = "The compiler's resource directory in the install prefix."),
        "runtime": attr.label(mandatory = True, providers = [CcInfo], doc = "The HIP runtime."),
        "targets": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The `hip_targets` to compile for."),
        # Here, and not in the rules that compile: so it runs where the compiler does.
        "_compile": tool_attr("//hip/tools:compile_tool"),
    },
)

def _hip_no_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(hip = None, reason = ctx.attr.reason)]

hip_no_toolchain = rule(
    doc = "Stands in the place of a `hip_toolchain`. Targets that need the compiler fail with the reason.",
    implementation = _hip_no_toolchain_impl,
    attrs = {"reason": attr.string(mandatory = True, doc = "What is missing, where, what was expected, and what to do.")},
)

# A label, not a string: rules of other modules call these functions, too.
_TYPE = Label("//hip:toolchain_type")

# Attributes of a rule that calls `find_hip_toolchain`, for `attrs` of `rule`.
HIP_TOOLCHAIN_ATTRS = {"_enabled": attr.label(default = Label("//hip:enabled"), providers = [BuildSettingInfo])}

_REMEDY = "Or let builds without HIP skip the target: target_compatible_with = requires_hip()"

def use_hip_toolchain():
    """Returns the toolchains of a rule that calls `find_hip_toolchain`, which says why there is none better than Bazel can.

    Returns:
        list of toolchain types, for `toolchains` of `rule`.
    """
    return [config_common.toolchain_type(_TYPE, mandatory = False)]

def find_hip_toolchain(ctx):
    """Returns the toolchain that compiles HIP; fails with the reason if there is none.

    Args:
        ctx: the context of a rule with `HIP_TOOLCHAIN_ATTRS` and `use_hip_toolchain()`.

    Returns:
        HipToolchainInfo.
    """
    toolchain = ctx.toolchains[_TYPE]
    if not ctx.attr._enabled[BuildSettingInfo].value:
        fail("{}: HIP is turned off (--@rules_rocm_python//hip:enabled=false), and the target needs it. Turn it on. {}".format(shown(written(ctx)), _REMEDY))
    if not toolchain:
        fail("{}: no toolchain compiles HIP for this platform; expected --platforms for Linux on x86_64, and a machine or remote workers of that kind. Change the platform. {}".format(shown(written(ctx)), _REMEDY))
    if not toolchain.hip:
        fail("{}: {}. {}".format(shown(written(ctx)), toolchain.reason, _REMEDY))
    return toolchain.hip

def requires_hip():
    """Returns the value of `target_compatible_with` for targets that need HIP.

    `bazel build //...` skips them if HIP is turned off, if there is no SDK on the machine, or for a platform other than
    Linux on x86_64. If a command names such a target itself, Bazel fails and says which condition does not hold.

    Returns:
        a `select` of constraints.
    """
    return select({
        Label("//hip:is_enabled"): [],
        "//conditions:default": [Label("@platforms//:incompatible")],
    })
