"""variant: what another build would make of a directory of distributions, in another version or with wheel variants, within this build.

Tests compare builds, or install two of them: with this rule Bazel builds each once, and knows when to do so again.
"""

visibility(["//tests/mini/..."])

_SETTINGS = ["version", "version_kind", "version_serial", "version_suffix", "wheel_variants"]

def _settings_impl(_settings, attr):
    return {"//packaging:" + setting: getattr(attr, setting) for setting in _SETTINGS}

_settings = transition(
    implementation = _settings_impl,
    inputs = [],
    outputs = ["//packaging:" + setting for setting in _SETTINGS],
)

def _variant_impl(ctx):
    (dist,) = ctx.files.dist

    # Another configuration has the same paths at run time, so a name of its own keeps variants apart.
    link = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.symlink(output = link, target_file = dist)
    return [DefaultInfo(files = depset([link]), runfiles = ctx.runfiles([link]))]

variant = rule(
    doc = "The directory of a `sdk_index`, as built with these settings.",
    implementation = _variant_impl,
    attrs = {
        "dist": attr.label(mandatory = True, cfg = _settings, doc = "The `sdk_index`."),
        "version": attr.string(doc = "The version; overrides kind and serial."),
        "version_kind": attr.string(default = "dev", doc = "The kind of version."),
        "version_serial": attr.string(doc = "The serial of the version."),
        "version_suffix": attr.string(doc = "The version suffix."),
        "wheel_variants": attr.bool(doc = "Whether `rocm` comes as wheel variants, too."),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)
