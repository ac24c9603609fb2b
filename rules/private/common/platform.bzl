"""For which platform a rule's target is built, whatever the platform of the build: so packages for several are built at once."""

visibility(["//rules/..."])

_PLATFORMS = "//command_line_option:platforms"

def _for_platform_impl(settings, attr):
    return {_PLATFORMS: str(attr.platform) if attr.platform else settings[_PLATFORMS]}

for_platform = transition(implementation = _for_platform_impl, inputs = [_PLATFORMS], outputs = [_PLATFORMS])

_WINDOWS = Label("//:windows_x86_64")
_LINUX = Label("//:linux_x86_64")

def _for_linux_impl(settings, _attr):
    platforms = [Label(str(platform)) for platform in settings[_PLATFORMS]]
    return {_PLATFORMS: [str(_LINUX)] if _WINDOWS in platforms else settings[_PLATFORMS]}

# For what is only known of artifacts for Linux, and asked for in a build for Windows, too.
for_linux = transition(implementation = _for_linux_impl, inputs = [_PLATFORMS], outputs = [_PLATFORMS])

# What each rule with a transition has.
TRANSITION_ATTRS = {
    "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
}

# Of a rule with `cfg = for_platform`.
PLATFORM_ATTRS = {
    "platform": attr.label(doc = "The platform that it is for: its artifacts and launchers are built for that. The default is the platform of the build."),
} | TRANSITION_ATTRS
