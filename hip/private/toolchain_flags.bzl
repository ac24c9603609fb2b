"""The options that the toolchain for C++ gives a source: its features, such as sanitizers, as far as HIP sources take them."""

load("@rules_cc//cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

visibility(["//hip/private"])

# Features that make something else than an object file, or need files that HIP's actions do not have.
_UNSUPPORTED_FEATURES = ["fdo_instrument", "fdo_optimize", "header_modules", "layering_check", "module_maps", "parse_headers", "thin_lto"]

# Options that clang does not get: GCC's own, options for gcov, whose files no action writes, and what the rule says itself: the language,
# the outputs, dependency files, the machine, and the compiler's own headers, which another clang has, too.
_NOT_FOR_CLANG = ["--coverage", "-c", "-fanalyzer", "-fcanonical-system-headers", "-fhardened", "-fno-canonical-system-headers", "-fno-gnu-unique", "-fno-var-tracking", "-fno-var-tracking-assignments", "-fprofile-arcs", "-ftest-coverage", "-fvar-tracking", "-fvar-tracking-assignments", "-nobuiltininc", "-nostdinc"]
_PREFIXES_NOT_FOR_CLANG = ("--target=", "-M", "-Wp,-M", "-fdump-", "-flto", "-fmodule", "-fprofile-use", "-frandom-seed=", "-resource-dir=", "-save-temps", "-specs=", "-xc")
_PAIRS_NOT_FOR_CLANG = ["-MF", "-MQ", "-MT", "-o", "-resource-dir", "-target", "-x"]

# Where clang looks for the headers of the C++ library, instead of its own places.
_LIBRARY_HEADERS = "-stdlib++-isystem"

# What GPUs get, too: by this, both compilations read the same lines of the same headers.
_PREFIXES_FOR_DEVICES = ("-D", "-U", "-nostdinc++", "-std=", "-stdlib")
_PAIRS_FOR_DEVICES = ["-D", "-U", "-cxx-isystem", "-include", "-isystem", _LIBRARY_HEADERS]
_NOT_FOR_DEVICES = ("-D_FORTIFY_SOURCE", "-D__DATE__=", "-D__TIMESTAMP__=", "-D__TIME__=", "-U_FORTIFY_SOURCE")

def _for_clang(options):
    """Returns the options without those that clang does not take for HIP sources.

    Words before the first option are a subcommand of the compiler, such as zig's `cc`.
    """
    first = [at for at, option in enumerate(options) if option.startswith("-")]
    options = options[first[0]:] if first else []
    return [
        option
        for before, option in zip([""] + options, options)
        if not (before in _PAIRS_NOT_FOR_CLANG or option in _PAIRS_NOT_FOR_CLANG + _NOT_FOR_CLANG or option.startswith(_PREFIXES_NOT_FOR_CLANG))
    ]

def _for_devices(options):
    """Returns the options that change how headers read: GPUs need them as the host does."""
    return [
        option
        for before, option in zip([""] + options, options)
        if before in _PAIRS_FOR_DEVICES or option in _PAIRS_FOR_DEVICES or (option.startswith(_PREFIXES_FOR_DEVICES) and not option.startswith(_NOT_FOR_DEVICES))
    ]

def compile_features(ctx, cc_toolchain):
    """Returns the FeatureConfiguration of compilations: features of the target, its package and the build, as far as HIP has them.

    Args:
        ctx: the rule context.
        cc_toolchain: CcToolchainInfo.

    Returns:
        FeatureConfiguration.
    """
    return cc_common.configure_features(
        cc_toolchain = cc_toolchain,
        ctx = ctx,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features + _UNSUPPORTED_FEATURES,
    )

def toolchain_flags(ctx, cc_toolchain):
    """Returns the options of the toolchain for C++, with the features of the target, its package and the build.

    Args:
        ctx: the rule context, with the fragment `cpp`.
        cc_toolchain: CcToolchainInfo.

    Returns:
        struct(host: list of string, device: list of string).
    """
    features = compile_features(ctx, cc_toolchain)
    variables = cc_common.create_compile_variables(
        cc_toolchain = cc_toolchain,
        feature_configuration = features,
        use_pic = True,
    )
    options = _for_clang(cc_common.get_memory_inefficient_command_line(
        action_name = CPP_COMPILE_ACTION_NAME,
        feature_configuration = features,
        variables = variables,
    ))
    return struct(device = _for_devices(options), host = options)

def own_libcxx(cc_toolchain, options):
    """Returns how the SDK's clang finds the toolchain's own libc++: any other clang looks beside itself and in `/usr`.

    Args:
        cc_toolchain: CcToolchainInfo.
        options: list of string: all options of a compilation that may choose a C++ library.

    Returns:
        struct(options: list of string, replaced: list of string: options that these replace). Both are empty unless the
        options choose libc++ without its directories, and the toolchain has them.
    """
    chosen = [option for option in options if option.startswith("-stdlib=")]
    named = [option for option in options if option.startswith(("-nostdinc++", _LIBRARY_HEADERS))]
    directories = [path.rstrip("/") for path in cc_toolchain.built_in_include_directories]
    found = [_LIBRARY_HEADERS + path for path in directories if path.endswith("/c++/v1")]
    if not found or named or not chosen or chosen[-1] != "-stdlib=libc++":
        return struct(options = [], replaced = [])
    return struct(options = found, replaced = chosen)  # clang warns about options that it does not use
