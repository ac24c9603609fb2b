"""Options as rules of C++ read them: `$(location)`, Make variables, and several words in one string."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/shared:names.bzl", "shown", "written")

visibility(["//hip", "//hip/private", "//hip/tests"])

# Options of clang about dependency files (-MD, -MF and others): more would be written, or not where the rule reads them.
_DEPENDENCY_PREFIXES = ("-M", "-Wp,-M", "-dependency-")
_DEPENDENCY_OPTIONS = ["--dependencies", "--print-missing-file-dependencies", "--user-dependencies", "--write-dependencies", "--write-user-dependencies"]

# Attributes -> the options that they stand for.
_ATTRIBUTES = {
    "compress": ["--no-offload-compress", "--offload-compress", "--offload-compression-level"],
    "relocatable": ["-cuid", "-fgpu-rdc", "-fhip-emit-relocatable", "-fno-gpu-rdc", "-fno-hip-emit-relocatable", "-fuse-cuid"],
    "targets": ["--cuda-gpu-arch", "--no-cuda-gpu-arch", "--no-offload-arch", "--offload", "--offload-arch", "--offload-arch-tool", "--offload-targets"],
}

# What says instead of an option what kind of compilation it is -> the options, such as commands of hipcc have.
_DECIDED = {
    "`hip.sdk` in MODULE.bazel says which SDK compiles": ["--hip-path", "--rocm-device-lib-path", "--rocm-path"],
    "sources are HIP, whatever their suffix; plain C++ belongs into a `cc_library`": ["-x"],
    "the rule compiles each source for the host and for each GPU, to object files": ["--cuda-device-only", "--cuda-host-only", "--offload-device-only", "--offload-host-only", "-E", "-S", "-c", "-emit-llvm", "-fsyntax-only", "-o"],
    "the rule links device code and the HIP runtime, and `linkopts` are for programs": ["--hip-link", "-no-hip-rt"],
}

# How clang calls levels of optimization when it links device code.
_LEVELS = {"-O": "1", "-O4": "3", "-Ofast": "3", "-Og": "1", "-Os": "2", "-Oz": "2"} | {"-O" + level: level for level in "0123".elems()}

def refusal(option):
    """Returns why the rules refuse an option of clang: what is expected, and what to do.

    Args:
        option: string.

    Returns:
        string, empty for an option that acts.
    """
    name = option.partition("=")[0]
    for attribute, options in _ATTRIBUTES.items():
        if name in options:
            return "expected the attribute `{}`, which also says how programs are linked. Remove the option, and set the attribute".format(attribute)
    for reason, options in _DECIDED.items():
        if name in options:
            return "expected no such option: {}. Remove it".format(reason)
    if option.startswith(_DEPENDENCY_PREFIXES) or option in _DEPENDENCY_OPTIONS:
        return "expected no option about dependency files: the rule has clang list what sources include, and reads that. Remove it"
    return ""

def device_linker_options(options):
    """Returns what clang gives the linker of device code for some of its options, if it links relocatable code itself.

    Args:
        options: list of string: all options of compilations for GPUs.

    Returns:
        list of string: options of lld.
    """
    levels = [_LEVELS[option] for option in options if option in _LEVELS]
    found = ["-plugin-opt=O" + levels[-1], "--lto-CGO" + levels[-1]] if levels else []
    for before, option in zip([""] + options, options):
        if before == "-mllvm":
            found.append("-plugin-opt=" + option)
        elif option.startswith("-mllvm="):
            found.append("-plugin-opt=" + option.removeprefix("-mllvm="))
        elif before.startswith("-Xoffload-linker"):
            found.append(option)
    return found

def _with_variables(ctx, attribute, text):
    """Returns a text with the values of Make variables. Rules of C++ leave a single `$` as it is, such as in $ORIGIN."""
    parts = [part.replace("$(", "\n(").replace("$", "$$").replace("\n(", "$(") for part in text.split("$$")]
    return ctx.expand_make_variables(attribute, "$$".join(parts), {})

def expanded_options(ctx, attribute):
    """Returns the options of an attribute.

    Args:
        ctx: the rule context, of a `hip_library`.
        attribute: string: name of an attribute that is a list of strings.

    Returns:
        list of string.
    """

    # Bazel takes no target twice.
    named = ctx.attr.srcs + ctx.attr.hdrs + ctx.attr.textual_hdrs + ctx.attr.additional_linker_inputs + ctx.attr.data
    files = {target: None for target in named}.keys()
    options = []
    for element in getattr(ctx.attr, attribute):
        options += ctx.tokenize(_with_variables(ctx, attribute, ctx.expand_location(element, files)))
    return options

def _checked(ctx, given_in, options):
    """Returns options of clang; fails if one is about dependency files, or an attribute stands for it.

    Args:
        ctx: the rule context.
        given_in: string: where the user wrote the options: an attribute, or a flag.
        options: list of string.

    Returns:
        list of string.
    """
    for option in options:
        if refusal(option):
            fail("{}: {}: {}; {}".format(shown(written(ctx)), given_in, option, refusal(option)))
    return options

def compiler_options(ctx, attribute, flag = None):
    """Returns the options of an attribute, as `expanded_options` does, and before them the options of a flag.

    It fails if one is about dependency files, or an attribute stands for it.

    Args:
        ctx: the rule context.
        attribute: string: name of an attribute that is a list of clang's options.
        flag: Target: `//hip:host_copt` or `//hip:device_copt`.

    Returns:
        list of string.
    """
    of_build = flag[BuildSettingInfo].value if flag else []
    return _checked(ctx, "--@rules_rocm_python//hip:{}".format(flag.label.name) if flag else "", of_build) + _checked(ctx, attribute, expanded_options(ctx, attribute))

def expanded_defines(ctx, attribute):
    """Returns the macros of an attribute, as `expanded_options` does; fails unless each is one word.

    Args:
        ctx: the rule context.
        attribute: string: name of an attribute that is a list of strings.

    Returns:
        list of string.
    """
    macros = expanded_options(ctx, attribute)
    if len(macros) != len(getattr(ctx.attr, attribute)):
        fail("{}: {}: {}; expected one word in each, such as NAME=value. Quote spaces".format(shown(written(ctx)), attribute, getattr(ctx.attr, attribute)))
    return macros

options_flag = rule(
    doc = "A build setting with a list of options, one in each use of the flag. So they may have commas.",
    implementation = lambda ctx: [BuildSettingInfo(value = ctx.build_setting_value)],
    build_setting = config.string_list(flag = True, repeatable = True),
)
