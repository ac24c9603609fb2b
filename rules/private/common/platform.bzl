"""For which platform a rule's target is built, whatever the platform of the build: so packages for several are built at once."""

visibility(["//rules/..."])

_PLATFORMS = "//command_line_option:platforms"

def _for_platform_impl(settings, attr):
    return {_PLATFORMS: str(attr.platform) if attr.platform else settings[_PLATFORMS]}

for_platform = transition(implementation = _for_platform_impl, inputs = [_PLATFORMS], outputs = [_PLATFORMS])

_WINDOWS = Label("//:windows_x86_64")
_LINUX = Label("//:linux_x86_64")

def _for_linux_impl(settings, attr):
    if attr.platform:
        return {_PLATFORMS: str(attr.platform)}
    platforms = [Label(str(platform)) for platform in settings[_PLATFORMS]]
    return {_PLATFORMS: [str(_LINUX)] if _WINDOWS in platforms else settings[_PLATFORMS]}

# For what is asked for in a build for Windows, too, but is about artifacts for Linux, unless `platform` says otherwise.
for_linux = transition(implementation = _for_linux_impl, inputs = [_PLATFORMS], outputs = [_PLATFORMS])

_TRANSITION_ATTRS = {
    "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
}

# Of a rule that asks `is_for_windows`.
WINDOWS_ATTRS = {
    "_windows": attr.label(default = "@platforms//os:windows"),
}

# Of a rule with `cfg = for_platform`.
PLATFORM_ATTRS = {
    "platform": attr.label(doc = "The platform that it is for: its artifacts and launchers are built for that. The default is the platform of the build."),
} | WINDOWS_ATTRS | _TRANSITION_ATTRS

# Of a rule with `cfg = for_linux`.
LINUX_ATTRS = {
    "platform": attr.label(doc = "The platform of the packages. The default is the build's platform, or Linux if that is Windows."),
} | WINDOWS_ATTRS | _TRANSITION_ATTRS

def is_for_windows(ctx):
    """Returns whether a target is built for Windows.

    Args:
        ctx: context of a rule with WINDOWS_ATTRS.

    Returns:
        bool.
    """
    return ctx.target_platform_has_constraint(ctx.attr._windows[platform_common.ConstraintValueInfo])
