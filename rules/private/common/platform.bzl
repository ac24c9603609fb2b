"""For which platform a rule's target is built, whatever the platform of the build: so packages for several are built at once."""

visibility(["//rules/..."])

_PLATFORMS = "//command_line_option:platforms"

def _for_platform_impl(settings, attr):
    return {_PLATFORMS: str(attr.platform) if attr.platform else settings[_PLATFORMS]}

for_platform = transition(implementation = _for_platform_impl, inputs = [_PLATFORMS], outputs = [_PLATFORMS])

# Of a rule with `cfg = for_platform`.
PLATFORM_ATTRS = {
    "platform": attr.label(doc = "The platform that it is for: its artifacts and launchers are built for that. The default is the platform of the build."),
    "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
}
