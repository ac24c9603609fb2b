"""Collects what programs link of a HIP library: its object files as libraries, and one HIP runtime.

Two HIP runtimes in one process do not know each other's devices and kernels.
"""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("//rules/shared:names.bzl", "shown", "written")

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

_RUNTIME = "libamdhip64.so"

def check_one_runtime(ctx, infos):
    """Fails if a library would be linked with the HIP runtimes of two SDKs.

    Args:
        ctx: the rule context.
        infos: list of CcInfo of its dependencies.
    """
    found = {}
    for given in depset(transitive = [info.linking_context.linker_inputs for info in infos]).to_list():
        for library in given.libraries:
            file = library.resolved_symlink_dynamic_library or library.dynamic_library
            if file and file.basename.startswith(_RUNTIME):
                found.setdefault(file.path, given.owner)
    if len(found) > 1:
        (one, other) = found.values()[:2]
        fail("{}: it would be linked with two HIP runtimes, from {} and {}; expected libraries of one SDK. Depend on libraries of one repository, or select its compiler: --@rules_rocm_python//hip:sdk=NAME".format(shown(written(ctx)), shown(one), shown(other)))
