"""Collects what programs link of a HIP library: its object files as libraries, and the HIP runtime."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

visibility(["//hip/private"])

def library_of(ctx, cc_toolchain, objects, alwayslink, is_static, name = None):
    """Makes a library of object files that no rule of C++ compiled.

    Args:
        ctx: the rule context.
        cc_toolchain: CcToolchainInfo.
        objects: list of File, position-independent.
        alwayslink: whether programs get all of it, also what they do not refer to.
        is_static: whether there is no shared library besides the static one.
        name: string: what the library is called, if not as the rule.

    Returns:
        list of LibraryToLink: one, or none without objects.
    """
    if not objects:
        return []
    _, outputs = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        alwayslink = alwayslink,
        cc_toolchain = cc_toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(objects = depset(objects), pic_objects = depset(objects)),
        disallow_dynamic_library = is_static,
        feature_configuration = cc_common.configure_features(
            cc_toolchain = cc_toolchain,
            ctx = ctx,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        name = name or ctx.label.name,
    )
    return [outputs.library_to_link]

def linking_context(ctx, libraries, runtime, contexts):
    """Returns what programs link of a library.

    The runtime counts as a part of the library, because no attribute leads to it: `cc_shared_library` leaves out what it
    does not find by attributes.

    Args:
        ctx: the rule context, with the attribute `additional_linker_inputs`.
        libraries: struct(own: list of LibraryToLink, linkopts: list of string).
        runtime: LinkingContext of the HIP runtime.
        contexts: list of LinkingContext of the libraries that it needs.

    Returns:
        LinkingContext.
    """
    inputs = runtime.linker_inputs.to_list()
    own = cc_common.create_linker_input(
        additional_inputs = depset(ctx.files.additional_linker_inputs, transitive = [depset(given.additional_inputs) for given in inputs]),
        libraries = depset(libraries.own + [library for given in inputs for library in given.libraries]),
        owner = ctx.label,
        user_link_flags = libraries.linkopts + [flag for given in inputs for flag in given.user_link_flags],
    )
    return cc_common.merge_linking_contexts(linking_contexts = [cc_common.create_linking_context(linker_inputs = depset([own]))] + contexts)
