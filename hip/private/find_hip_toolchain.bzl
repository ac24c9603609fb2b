"""The toolchain of a rule that compiles HIP, or the reason why there is none."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/shared:labels.bzl", "shown", "written")

visibility(["//hip", "//hip/private"])

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
