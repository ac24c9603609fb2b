# Written when this repository was fetched: the labels by which XLA's BUILD files know ROCm.

load("@bazel_skylib//:bzl_library.bzl", "bzl_library")
load("@bazel_skylib//rules:common_settings.bzl", "string_flag")
load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])

# What the SDK has.
[
    alias(
        name = name,
        actual = actual,
    )
    for name, actual in %{present}.items()
]

# What the SDK lacks: targets that name it are analysed, and fail when they are built.
[
    cc_library(
        name = name,
        hdrs = [name + "_is_missing.h"],
    )
    for name in %{missing}
]

[
    genrule(
        name = name + "_is_missing",
        outs = [name + "_is_missing.h"],
        cmd = "echo >&2 'There is no @%{sdk}//:{}. Add the artifact that has this package to those of rocm.sdk(name = \"%{sdk}\")'; exit 1".format(actual),
        visibility = ["//visibility:private"],
    )
    for name, actual in %{missing}.items()
]

# Headers alone: XLA opens libraries when it runs.
cc_library(
    name = "rocm_headers",
    hdrs = glob(["rocm/include/**"]),
    defines = [
        "MIOPEN_BETA_API=1",
        "__HIP_DISABLE_CPP_FUNCTIONS__=1",
        "__HIP_PLATFORM_AMD__=1",
    ],
    includes = [
        ".",
        "rocm/include",
    ],
    deps = [":rocm_config"],
)

alias(
    name = "rocm_headers_of_library",
    actual = ":rocm_headers",
)

cc_library(
    name = "rocm_config",
    hdrs = ["config/rocm/rocm_config.h"],
    includes = ["config"],
)

# Empty: each of the SDK's libraries brings the search path by which programs find it.
cc_library(name = "rocm_rpath")

filegroup(
    name = "toolchain_data",
    srcs = glob(
        [
            "rocm/lib/llvm/bin/*",
            "rocm/lib/llvm/lib/*.so*",
            "rocm/lib/llvm/lib/clang/*/include/**",
            "rocm/lib/llvm/lib/clang/*/lib/**",
            "rocm/lib/llvm/lib/clang/*/amdgcn/**",
            "rocm/amdgcn/**",
        ],
        allow_empty = True,
    ),
)

bzl_library(
    name = "build_defs_bzl",
    srcs = ["build_defs.bzl"],
)

# XLA's .bazelrc sets it. It changes nothing: what a build sees is always the SDK.
string_flag(
    name = "rocm_path_type",
    build_setting_default = "hermetic",
    values = [
        "hermetic",
        "link_only",
        "multiple",
        "system",
    ],
)

[
    config_setting(
        name = name,
        flag_values = {":rocm_path_type": value},
    )
    for name, value in {
        "build_hermetic": "hermetic",
        "link_only": "link_only",
        "multiple_rocm_paths": "multiple",
    }.items()
]

config_setting(
    name = "using_hipcc",
    define_values = {"using_rocm_hipcc": "true"},
)

platform(
    name = "linux_x64",
    constraint_values = [
        "@platforms//cpu:x86_64",
        "@platforms//os:linux",
    ],
)
