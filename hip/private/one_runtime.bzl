"""Refuses programs of two SDKs: two HIP runtimes in one process do not know each other's devices and kernels."""

load("//rules/shared:labels.bzl", "shown", "written")

visibility(["//hip/private"])

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
