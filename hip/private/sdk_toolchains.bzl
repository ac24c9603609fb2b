"""The repository `@rocm_toolchains`, with the toolchains of all SDKs of a build.

Bazel reads it for every target that needs a toolchain, C++ programs among them. So it needs no file of an SDK: Bazel
fetches the repository of an SDK when a target needs HIP.
"""

visibility(["//hip/private"])

# Every SDK for HIP has it.
_HEADER = "include/hip/hip_runtime.h"

_HEAD = """\
# Written when this repository was fetched: the toolchains of HIP.

load("@bazel_skylib//lib:selects.bzl", "selects")
load("@bazel_skylib//rules:common_settings.bzl", "string_flag")
load("@rules_rocm_python//hip:sdk_repository.bzl", "hip_no_toolchain")

package(default_visibility = ["//visibility:public"])

string_flag(
    name = "sdk",
    build_setting_default = "{default}",
    values = {names},
)

selects.config_setting_group(
    name = "is_enabled",
    match_any = {conditions},
)
"""

_SDK = """
config_setting(
    name = "{name}_is_selected",
    flag_values = {{
        ":sdk": "{name}",
        "@rules_rocm_python//hip:enabled": "true",
    }},
)

config_setting(
    name = "{name}_is_enabled",
    constraint_values = {enabled_for},
    flag_values = {{
        ":sdk": "{name}",
        "@rules_rocm_python//hip:enabled": "true",
    }},
)

hip_no_toolchain(
    name = "no_{name}",
    reason = {reason},
)

toolchain(
    name = "{name}_toolchain",
    exec_compatible_with = {platform},
    target_compatible_with = {platform},
    target_settings = [":{name}_is_selected"],
    toolchain = "{toolchain}",
    toolchain_type = "@rules_rocm_python//hip:toolchain_type",
)
"""

_PLATFORM = ["@platforms//cpu:x86_64", "@platforms//os:linux"]

# No platform has it.
_NOWHERE = ["@platforms//:incompatible"]

def installed_directory(rctx, path, variable):
    """Returns the directory in which an SDK is installed, which `variable` of the environment may replace."""
    return (rctx.getenv(variable) if variable else None) or path

def _why_not(rctx, name):
    """Returns why there is no SDK, an empty string if there is one. An SDK that is not installed can be fetched."""
    variable = rctx.attr.variables[name]
    directory = installed_directory(rctx, rctx.attr.paths[name], variable)
    if not directory.startswith("/"):
        return ""  # no directory, or a relative path, which is refused when the SDK is fetched
    header = rctx.path(directory + "/" + _HEADER)
    rctx.watch(header)
    if header.exists:
        return ""
    return "{}: {} has no {}; expected a directory in which ROCm is installed. Change `path`{}".format(
        rctx.attr.titles[name],
        directory,
        _HEADER,
        ", or set --repo_env={}=/absolute/directory".format(variable) if variable else "",
    )

def _sdk_toolchains_impl(rctx):
    names = sorted(rctx.attr.paths)
    parts = [_HEAD.format(conditions = [":{}_is_enabled".format(name) for name in names], default = rctx.attr.default, names = names)]
    for name in names:
        reason = _why_not(rctx, name)
        parts.append(_SDK.format(
            enabled_for = _NOWHERE if reason else _PLATFORM,
            name = name,
            platform = _PLATFORM,
            reason = repr(reason),
            toolchain = ":no_" + name if reason else "@{}//:hip_compiler".format(name),
        ))
    rctx.file("BUILD.bazel", "".join(parts))

sdk_toolchains = repository_rule(
    doc = "Toolchains of SDKs, and conditions whether they can be used.",
    implementation = _sdk_toolchains_impl,
    attrs = {
        "default": attr.string(mandatory = True, doc = "Name of the SDK that compiles unless a build selects another."),
        "paths": attr.string_dict(mandatory = True, doc = "Name of an SDK -> directory in which it is installed; empty if it comes from elsewhere."),
        "titles": attr.string_dict(mandatory = True, doc = "Name of an SDK -> how errors name the tag that declares it."),
        "variables": attr.string_dict(mandatory = True, doc = "Name of an SDK -> environment variable that names another directory, or an empty string."),
    },
)
