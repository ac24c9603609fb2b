"""Coverage of the host's code of HIP sources: what counts their lines.

clang counts in LLVM's format, which has all it needs in the object files. gcov's format has files beside them, which no
action of HIP writes. The library that writes the counts belongs to the same release of clang.
"""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load(":toolchain_flags.bzl", "compile_features")

visibility(["//hip/private"])

_COUNTS = "-fprofile-instr-generate"

# Nothing else refers to what writes the counts.
_NEEDED = "-Wl,-u,__llvm_profile_runtime"

def coverage(ctx, hip, cc_toolchain, options):
    """Returns what a rule's sources are compiled and linked with so that programs count lines.

    Args:
        ctx: the rule context.
        hip: HipToolchainInfo.
        cc_toolchain: CcToolchainInfo.
        options: list of string: options of the toolchain for the host. If they count, its library writes the counts.

    Returns:
        struct(options: list of string, libraries: list of LibraryToLink, linkopts: list of string). All are empty without
        coverage, for targets that are not instrumented, and for an SDK without the library.
    """
    is_counted = ctx.configuration.coverage_enabled and ctx.coverage_instrumented()
    if not is_counted or _COUNTS in options or not hip.profile_runtime:
        return struct(libraries = [], linkopts = [], options = [])
    library = cc_common.create_library_to_link(
        actions = ctx.actions,
        cc_toolchain = cc_toolchain,
        feature_configuration = compile_features(ctx, cc_toolchain),
        pic_static_library = hip.profile_runtime,
    )
    return struct(libraries = [library], linkopts = [_NEEDED], options = [_COUNTS, "-fcoverage-mapping"])
