"""zig_cc_binary: a `cc_binary` that zig compiles, whatever C toolchains the build has.

What the rules bring along in C is written for zig, and so is the example SDK: it links without a libc, and the bytes are the
same on every machine. A project that has these rules as a dependency compiles its own C with a toolchain of its own, and
shall not get ours.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary")

visibility(["//examples/...", "//lib/...", "//tests/e2e/windows/...", "//tools/..."])

_EXTRA_TOOLCHAINS = "//command_line_option:extra_toolchains"
_ZIG = str(Label("@zig//:all"))

def _with_zig_impl(settings, _attr):
    # The last one comes first.
    return {_EXTRA_TOOLCHAINS: [one for one in settings[_EXTRA_TOOLCHAINS] if one != _ZIG] + [_ZIG]}

_with_zig = transition(implementation = _with_zig_impl, inputs = [_EXTRA_TOOLCHAINS], outputs = [_EXTRA_TOOLCHAINS])

def _zig_compiled_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = output, target_file = ctx.files.binary[0], is_executable = True)
    return [
        DefaultInfo(files = depset([output]), executable = output, runfiles = ctx.runfiles([output])),
        # The import library of a DLL is one.
        ctx.attr.binary[0][OutputGroupInfo],
    ]

_zig_compiled = rule(
    doc = "What a `cc_binary` makes, compiled by zig.",
    implementation = _zig_compiled_impl,
    attrs = {
        "binary": attr.label(mandatory = True, cfg = _with_zig, doc = "The `cc_binary`."),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
    executable = True,
)

def zig_cc_binary(name, visibility = None, **kwargs):
    """Declares a program or shared library of this module's own.

    Args:
        name: name of the file.
        visibility: who may use it.
        **kwargs: attributes of `cc_binary`.
    """
    cc_binary(
        name = "zig/" + name,
        tags = ["manual"],
        visibility = ["//visibility:private"],
        **kwargs
    )
    _zig_compiled(
        name = name,
        binary = "zig/" + name,
        visibility = visibility,
    )
