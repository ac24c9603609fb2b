"""Options as rules of C++ read them: `$(location)`, Make variables, and several words in one string."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules/shared:labels.bzl", "shown", "written")

visibility(["//hip/private"])

# Options of clang about dependency files (-MD, -MF and others): more would be written, or not where the rule reads them.
_DEPENDENCY_PREFIXES = ("-M", "-Wp,-M", "-dependency-")
_DEPENDENCY_OPTIONS = ["--dependencies", "--print-missing-file-dependencies", "--user-dependencies", "--write-dependencies", "--write-user-dependencies"]

# Options that an attribute stands for -> the attribute.
_ATTRIBUTES = {
    "--cuda-gpu-arch": "targets",
    "--offload-arch": "targets",
    "-fgpu-rdc": "relocatable",
    "-fno-gpu-rdc": "relocatable",
}

# Options that make another kind of compilation -> what says it instead.
_DECIDED = {
    option: reason
    for reason, options in {
        "`hip.sdk` in MODULE.bazel says which SDK compiles": ["--hip-path", "--rocm-device-lib-path", "--rocm-path"],
        "sources are HIP, whatever their suffix; plain C++ belongs into a `cc_library`": ["-x"],
        "the rule compiles each source for the host and for each GPU, to object files": ["--cuda-device-only", "--cuda-host-only", "--offload-device-only", "--offload-host-only", "-E", "-S", "-c", "-emit-llvm", "-fsyntax-only", "-o"],
    }.items()
    for option in options
}

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
        name = option.partition("=")[0]
        instead = _ATTRIBUTES.get(name)
        if instead:
            fail("{}: {}: {}; expected the attribute `{}`, which also says how programs are linked. Remove the option, and set the attribute".format(shown(written(ctx)), given_in, option, instead))
        if name in _DECIDED:
            fail("{}: {}: {}; expected no such option: {}. Remove it".format(shown(written(ctx)), given_in, option, _DECIDED[name]))
        if option.startswith(_DEPENDENCY_PREFIXES) or option in _DEPENDENCY_OPTIONS:
            fail("{}: {}: {}; expected no option about dependency files: the rule has clang list what sources include, and reads that. Remove it".format(shown(written(ctx)), given_in, option))
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
