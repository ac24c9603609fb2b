"""The repository `@rocm_toolchains`, with the toolchain of the SDK of a build.

Bazel reads it for every target that needs a toolchain, C++ programs among them. So it needs no file of the SDK: Bazel
fetches that when a target needs HIP.
"""

visibility(["//hip/private"])

# Every SDK for HIP has it.
_HEADER = "include/hip/hip_runtime.h"

_BUILD = """\
# Written when this repository was fetched: the toolchain of HIP.

load("@rules_rocm_python//hip:sdk_repository.bzl", "hip_no_toolchain")

package(default_visibility = ["//visibility:public"])

config_setting(
    name = "is_turned_on",
    flag_values = {{"@rules_rocm_python//hip:enabled": "true"}},
)

config_setting(
    name = "is_enabled",
    constraint_values = {enabled_for},
    flag_values = {{"@rules_rocm_python//hip:enabled": "true"}},
)

hip_no_toolchain(
    name = "no_toolchain",
    reason = {reason},
)

toolchain(
    name = "toolchain",
    exec_compatible_with = {platform},
    target_compatible_with = {platform},
    target_settings = [":is_turned_on"],
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

def _why_not(rctx):
    """Returns why there is no SDK, an empty string if there is one. An SDK that is not installed can be fetched."""
    variable = rctx.attr.variable
    directory = installed_directory(rctx, rctx.attr.path, variable)
    if not directory.startswith("/"):
        return ""  # no directory, or a relative path, which is refused when the SDK is fetched
    header = rctx.path(directory + "/" + _HEADER)
    rctx.watch(header)
    if header.exists:
        return ""
    return "{}: {} has no {}; expected a directory in which ROCm is installed. Change `path`{}".format(
        rctx.attr.title,
        directory,
        _HEADER,
        ", or set --repo_env={}=/absolute/directory".format(variable) if variable else "",
    )

def _sdk_toolchains_impl(rctx):
    reason = _why_not(rctx)
    rctx.file("BUILD.bazel", _BUILD.format(
        enabled_for = _NOWHERE if reason else _PLATFORM,
        platform = _PLATFORM,
        reason = repr(reason),
        toolchain = ":no_toolchain" if reason else "@rocm//:hip_compiler",
    ))

sdk_toolchains = repository_rule(
    doc = "The toolchain of the SDK, and the condition whether it can be used.",
    implementation = _sdk_toolchains_impl,
    attrs = {
        "path": attr.string(doc = "Directory in which the SDK is installed; empty if it comes from elsewhere."),
        "title": attr.string(mandatory = True, doc = "How errors name the tag that declares the SDK."),
        "variable": attr.string(doc = "Environment variable that names another directory."),
    },
)
