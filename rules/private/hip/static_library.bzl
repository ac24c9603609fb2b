"""The static library of object files that no rule of C++ compiled."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

visibility(["//rules/private/hip"])

def static_library(ctx, cc_toolchain, objects, alwayslink, linkopts = [], contexts = [], additional_inputs = []):
    """Makes the static library of a rule.

    Args:
        ctx: the rule context.
        cc_toolchain: CcToolchainInfo.
        objects: list of File, position-independent.
        alwayslink: whether programs get all of it, also what they do not refer to.
        linkopts: list of string: options of the linker of programs.
        contexts: list of LinkingContext: those of the libraries that it needs.
        additional_inputs: list of File: what `linkopts` name.

    Returns:
        struct(file: File, None without objects, linking_context: LinkingContext).
    """
    linking_context, outputs = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        additional_inputs = additional_inputs,
        alwayslink = alwayslink,
        cc_toolchain = cc_toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(objects = depset(objects), pic_objects = depset(objects)),
        disallow_dynamic_library = True,
        feature_configuration = cc_common.configure_features(
            cc_toolchain = cc_toolchain,
            ctx = ctx,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        linking_contexts = contexts,
        name = ctx.label.name,
        user_link_flags = linkopts,
    )
    library = outputs.library_to_link
    return struct(file = library.pic_static_library if library else None, linking_context = linking_context)
