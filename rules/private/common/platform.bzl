"""For which platform a rule's target is built, whatever the platform of the build: so packages for several are built at once."""

visibility(["//rules/..."])

_PLATFORMS = "//command_line_option:platforms"

def _for_platform_impl(settings, attr):
    return {_PLATFORMS: str(attr.platform) if attr.platform else settings[_PLATFORMS]}

for_platform = transition(implementation = _for_platform_impl, inputs = [_PLATFORMS], outputs = [_PLATFORMS])

# Of a rule that asks `is_for_windows`.
WINDOWS_ATTRS = {
    "_windows": attr.label(default = "@platforms//os:windows"),
}

# Of a rule with `cfg = for_platform`.
PLATFORM_ATTRS = WINDOWS_ATTRS | {
    "platform": attr.label(doc = "The platform that it is for: its artifacts and launchers are built for that. The default is the platform of the build."),
    "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
}

def is_for_windows(ctx):
    """Returns whether a target is built for Windows.

    Args:
        ctx: context of a rule with WINDOWS_ATTRS.

    Returns:
        bool.
    """
    return ctx.target_platform_has_constraint(ctx.attr._windows[platform_common.ConstraintValueInfo])
