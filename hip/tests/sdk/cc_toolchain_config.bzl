"""A toolchain for C++ whose compiler is nothing, with options and features of GCC's."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:cc_toolchain_config_lib.bzl", "feature", "flag_group", "flag_set", "tool_path")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/toolchains:cc_toolchain_config_info.bzl", "CcToolchainConfigInfo")

visibility("private")

def _flags(name, flags, enabled = False):
    group = flag_group(flags = flags)
    return feature(name = name, enabled = enabled, flag_sets = [flag_set(actions = [ACTION_NAMES.cpp_compile], flag_groups = [group])])

def _cc_toolchain_config_impl(ctx):
    return cc_common.create_cc_toolchain_config_info(
        abi_libc_version = "",
        abi_version = "",
        builtin_sysroot = "own/sysroot",
        compiler = "gcc",
        ctx = ctx,
        cxx_builtin_include_directories = ["%sysroot%/include/c++/v1/", "%sysroot%/include"],
        features = [
            _flags("usual", ["-std=c++20", "-D_GLIBCXX_ASSERTIONS", "-fstack-protector", "-isystem", "own", "-fno-canonical-system-headers", "-xc++"], enabled = True),
            _flags("asan", ["-fsanitize=address"]),
            feature(name = "supports_pic", enabled = True),
        ],
        target_cpu = "k8",
        target_libc = "",
        target_system_name = "",
        tool_paths = [tool_path(name = name, path = "none") for name in ["ar", "cpp", "gcc", "gcov", "ld", "nm", "objdump", "strip"]],
        toolchain_identifier = "none",
    )

cc_toolchain_config = rule(
    doc = "Configures a toolchain that only analysis uses.",
    implementation = _cc_toolchain_config_impl,
    provides = [CcToolchainConfigInfo],
)
