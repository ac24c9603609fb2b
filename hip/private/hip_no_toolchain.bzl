"""hip_no_toolchain: what stands in the place of an SDK's compiler, if there is none. It says why."""

visibility(["//hip"])

def _hip_no_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(hip = None, reason = ctx.attr.reason)]

hip_no_toolchain = rule(
    doc = "Stands in the place of a `hip_toolchain`. Targets that need the compiler fail with the reason.",
    implementation = _hip_no_toolchain_impl,
    attrs = {"reason": attr.string(mandatory = True, doc = "What is missing, where, what was expected, and what to do.")},
)
