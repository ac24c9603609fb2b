"""Analysis tests of HIP libraries: which actions compile them, and what each names.

Their toolchain is an SDK of empty files, in hip_sdk.
"""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//develop/testing:analysis.bzl", "UNUSED_HEADERS", "actions_of", "after_prefix", "assert_hermetic", "failure_test", "outputs_of")
load("//hip:defs.bzl", "hip_library")
load(":sdk.bzl", "HIP_SDK", "HIP_TARGETS")

visibility("private")

_TOOLCHAIN = HIP_SDK
_TARGETS = HIP_TARGETS

# The words of a command line of this test that depend on the machine or on the compilation mode.
_VARIABLE = ("-O", "-g", "-DNDEBUG", "-std=", "--sysroot=", "-iquote", "-isystem", "-I")

def _normal(env, action):
    """Returns the compiler's arguments without directories of outputs and the name of the target, and without search paths."""
    command = action.argv[action.argv.index("--") + 1:]
    root = command[0].removesuffix("/bin/clang")
    name = analysistest.target_under_test(env).label.name
    outputs = analysistest.target_bin_dir_path(env) + "/"
    arguments = [argument.replace(root, "SDK").replace(outputs, "").replace(name, "NAME") for argument in command]
    normal = []
    for before, argument in zip([""] + arguments[:-1], arguments):
        if not argument.startswith(_VARIABLE) and before not in ["-iquote", "-isystem"]:
            normal.append(argument.rpartition("/")[2] if before == "-o" else argument)
    return normal

# What clang is told for gfx90a, whatever other targets there are.
_FOR_GFX90A = [
    "SDK/bin/clang",
    "-no-canonical-prefixes",
    "-x",
    "hip",
    "-fPIC",
    "-resource-dir=SDK/lib/clang/22",
    "--rocm-path=SDK",
    "--rocm-device-lib-path=SDK/lib/clang/22/lib/amdgcn/bitcode",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIMESTAMP__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
    "-ffile-compilation-dir=.",
    "-DPUBLIC=1",
    "-D__HIP_PLATFORM_AMD__=1",
    "-DOWN",
    "-Wall",
    "-include",
    "hip/tests/headers/data.h",
    "-DMODE=fastbuild",
    "-fgpu-flush-denormals-to-zero",
    "--cuda-device-only",
    "--no-gpu-bundle-output",
    "--offload-arch=gfx90a",
    "-c",
    "hip/tests/data.hip",
    "-o",
    "data.hip.gfx90a.co",
]

def _assert_checked(env, action):
    """Asserts that a compilation is told which headers are declared, and says which of them it did not use."""
    (listed,) = after_prefix(action.argv, "--headers=")
    asserts.true(env, listed in [file.path for file in action.inputs.to_list()], "the list is an input")
    asserts.equals(env, [file.path for file in action.outputs.to_list() if file.path.endswith(UNUSED_HEADERS)], after_prefix(action.argv, "--unused="))
    (written,) = [one for one in analysistest.target_actions(env) if listed in [file.path for file in one.outputs.to_list()]]
    asserts.equals(env, ["data.h", "hip_runtime.h"], sorted([line.rpartition("/")[2] for line in written.content.splitlines()]))
    system = [path.rpartition("/prefix/")[2] for path in after_prefix(action.argv, "--system=")]
    asserts.true(env, "lib/clang/22" in system, "headers of the compiler need no target")
    asserts.true(env, "/usr/include" in system, "nor do headers of the system")

def _library_impl(ctx):
    env = analysistest.begin(ctx)
    targets = ctx.attr.targets
    device = actions_of(env, "HipCompileDevice")
    pairs = {tuple(after_prefix(action.argv, "--offload-arch=") + [action.argv[action.argv.index("-c") + 1].rpartition("/")[2]]): None for action in device}
    asserts.equals(env, sorted([(target, source) for target in targets for source in ["data.cu", "data.hip"]]), sorted(pairs))
    asserts.equals(env, len(pairs), len(device), "one action for each source and target")
    for action in device:
        asserts.equals(env, ["data"], [line.partition(".")[0] for line in outputs_of(action)])
        (libraries,) = after_prefix(action.argv, "--variable=LD_LIBRARY_PATH=")
        asserts.true(env, libraries.endswith("/prefix/lib"), "the compiler finds its libraries")
        asserts.equals(env, {}, action.env, "the program that runs the compiler takes no library of the SDK")
        assert_hermetic(env, action)
        _assert_checked(env, action)
        (target,) = after_prefix(action.argv, "--offload-arch=")
        others = [one for one in targets if one != target and [argument for argument in action.argv if one.replace(":", ".") in argument or one in argument]]
        asserts.equals(env, [], others, "the command line names one target")
    (mine,) = [action for action in device if "data.hip.gfx90a.co" in outputs_of(action)]
    asserts.equals(env, _FOR_GFX90A, _normal(env, mine))
    asserts.equals(env, 2, len(actions_of(env, "HipCompileHost")))
    for action in actions_of(env, "HipBundle"):
        asserts.equals(env, [",".join(["host-x86_64-unknown-linux-gnu-"] + ["hipv4-amdgcn-amd-amdhsa--" + target for target in targets])], after_prefix(action.argv, "-targets="))
        asserts.equals(env, 1 + len(targets), len(after_prefix(action.argv, "-input=")))
        asserts.true(env, "-compress" in action.argv, "`compress` reaches the bundler")
    asserts.equals(env, ["data.cu.hipfb", "data.hip.hipfb"], sorted([name for action in actions_of(env, "HipBundle") for name in outputs_of(action)]))
    return analysistest.end(env)

_ATTRS = {"targets": attr.string_list(doc = "The targets that are compiled for.")}

_one_target_test = analysistest.make(_library_impl, attrs = _ATTRS, config_settings = _TOOLCHAIN | {_TARGETS: ["gfx90a"]})
_three_targets_test = analysistest.make(_library_impl, attrs = _ATTRS, config_settings = _TOOLCHAIN | {_TARGETS: ["gfx90a", "gfx1100", "gfx908:sramecc+:xnack-"]})

def _host_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = [action for action in actions_of(env, "HipCompileHost") if outputs_of(action) == ["data.hip.o"]]
    _assert_checked(env, action)
    asserts.true(env, "--cuda-host-only" in action.argv, "only the host's code")
    asserts.false(env, "cc" in action.argv, "a subcommand of zig is no option of clang")
    at = action.argv.index("-fcuda-include-gpubinary")
    asserts.true(env, action.argv[at + 2].endswith("/data.hip.hipfb"), "the bundle is embedded")
    asserts.true(env, action.argv[at + 2] in [file.path for file in action.inputs.to_list()], "the bundle is an input")
    asserts.false(env, "-fgpu-flush-denormals-to-zero" in action.argv, "device_copts are for GPUs alone")
    for option in ["-DPUBLIC=1", "-DOWN", "-Wall"]:
        asserts.true(env, option in action.argv, option)
    asserts.true(env, "-Ihip/tests/headers" in action.argv, "`includes` is relative to the package")
    asserts.true(env, "hip_runtime.h" in [file.basename for file in action.inputs.to_list()], "headers of the runtime are inputs")
    info = analysistest.target_under_test(env)[CcInfo]
    asserts.equals(env, ["PUBLIC=1", "__HIP_PLATFORM_AMD__=1"], sorted(info.compilation_context.defines.to_list()), "what depends on it has no local_defines")
    asserts.true(env, "data.h" in [file.basename for file in info.compilation_context.headers.to_list()], "hdrs")
    libraries = [library for given in info.linking_context.linker_inputs.to_list() for library in given.libraries]
    files = [library.pic_static_library or library.resolved_symlink_dynamic_library for library in libraries]
    flags = [flag for given in info.linking_context.linker_inputs.to_list() for flag in given.user_link_flags]
    asserts.equals(env, ["-Wl,-rpath,$ORIGIN/fastbuild", "-ldl"], flags)
    asserts.equals(env, ["libhip_library.a", "libamdhip64.so.7", "libhsa-runtime64.so.1"], [file.basename for file in files])
    asserts.equals(env, ["libhip_library.a"], [file.basename for file in analysistest.target_under_test(env)[DefaultInfo].files.to_list()])
    return analysistest.end(env)

_host_test = analysistest.make(_host_impl, config_settings = _TOOLCHAIN | {_TARGETS: ["gfx90a"]})

def _own_targets_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, ["gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx90a:xnack+"], sorted([target for action in actions_of(env, "HipCompileDevice") for target in after_prefix(action.argv, "--offload-arch=")]))
    asserts.true(env, "data.hip.gfx90a.xnack+.co" in [name for action in actions_of(env, "HipCompileDevice") for name in outputs_of(action)], "no colon in the name of a file")
    return analysistest.end(env)

def _features_impl(ctx):
    env = analysistest.begin(ctx)
    (host,) = actions_of(env, "HipCompileHost")
    asserts.equals(env, ctx.attr.sanitized, "-fsanitize=address" in host.argv, "a sanitizer instruments the host's code")
    for option in ["-fno-canonical-system-headers", "-xc++"]:
        asserts.false(env, option in host.argv, "clang does not take " + option)
    (device,) = actions_of(env, "HipCompileDevice")
    for option in ["-DHOST", "-fsanitize=address", "-fstack-protector"]:
        asserts.false(env, option in device.argv, "for the host alone: " + option)
    for option in ["-D_GLIBCXX_ASSERTIONS", "-std=c++20"]:
        asserts.true(env, option in host.argv and option in device.argv, "both read the same headers: " + option)
    asserts.equals(env, "own", device.argv[device.argv.index("-std=c++20") + 3])
    asserts.true(env, "-fstack-protector" in host.argv, "hardening")
    asserts.true(env, "-DHOST" in host.argv, "host_copts")
    asserts.true(env, "private.inc" in [file.basename for file in host.inputs.to_list()], "headers of implementation_deps are inputs")
    headers = [file.basename for file in analysistest.target_under_test(env)[CcInfo].compilation_context.headers.to_list()]
    asserts.true(env, "data.h" in headers, "textual_hdrs are for what depends on it, too")
    asserts.false(env, "private.inc" in headers, "implementation_deps are for its sources alone")
    return analysistest.end(env)

_FEATURES_ATTRS = {"sanitized": attr.bool(doc = "Whether the host's code is instrumented.")}
_WITH_FEATURES = {
    "//command_line_option:extra_toolchains": ["//hip/tests/sdk:" + name for name in ["cc_toolchain", "hip_toolchain"]],
    _TARGETS: ["gfx90a"],
}
_features_test = analysistest.make(_features_impl, attrs = _FEATURES_ATTRS, config_settings = _WITH_FEATURES)
_asan_build_test = analysistest.make(_features_impl, attrs = _FEATURES_ATTRS, config_settings = _WITH_FEATURES | {"//command_line_option:features": ["asan"]})

def _features(name):
    """Declares libraries with features of the toolchain for C++, and their tests; returns the names of these."""
    hip_library(name = name + "_private", tags = ["manual"], textual_hdrs = ["private.inc"])
    common = dict(srcs = ["data.hip"], host_copts = ["-DHOST"], implementation_deps = [name + "_private"], tags = ["manual"], textual_hdrs = ["headers/data.h"])
    hip_library(name = name + "_usual", **common)
    hip_library(name = name + "_asan", features = ["asan"], **common)
    hip_library(name = name + "_no_asan", features = ["-asan"], **common)
    tested = {
        "asan": (_features_test, "asan", True),
        "asan_build": (_asan_build_test, "usual", True),
        "no_asan_build": (_asan_build_test, "no_asan", False),
        "usual": (_features_test, "usual", False),
    }
    for what, (test, library, sanitized) in tested.items():
        test(name = "{}_features_{}_test".format(name, what), sanitized = sanitized, target_under_test = "{}_{}".format(name, library))
    return ["{}_features_{}_test".format(name, what) for what in tested]

def _header_only_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, [], actions_of(env, "HipCompileDevice") + actions_of(env, "HipCompileHost"))
    return analysistest.end(env)

_header_only_test = analysistest.make(_header_only_impl, config_settings = _TOOLCHAIN)

_own_targets_test = analysistest.make(_own_targets_impl, config_settings = _TOOLCHAIN | {_TARGETS: ["gfx942"]})

def _prefixed_impl(ctx):
    env = analysistest.begin(ctx)
    context = analysistest.target_under_test(env)[CcInfo].compilation_context
    (directory,) = [path for path in context.includes.to_list() if "_virtual_includes" in path]
    asserts.true(env, directory + "/acme/data.h" in [file.path for file in context.headers.to_list()], "sources include it as acme/data.h")
    libraries = [library for given in analysistest.target_under_test(env)[CcInfo].linking_context.linker_inputs.to_list() for library in given.libraries]
    shared = [library.resolved_symlink_dynamic_library.basename for library in libraries if library.pic_static_library and library.resolved_symlink_dynamic_library]
    asserts.equals(env, ["libhip_prefixed.so"], shared, "a shared library, besides the static one")
    return analysistest.end(env)

_prefixed_test = analysistest.make(_prefixed_impl, config_settings = _TOOLCHAIN | {_TARGETS: ["gfx90a"]})

def _build_options_impl(ctx):
    env = analysistest.begin(ctx)
    (host,) = [action for action in actions_of(env, "HipCompileHost") if outputs_of(action) == ["data.hip.o"]]
    (device,) = [action for action in actions_of(env, "HipCompileDevice") if "data.hip.gfx90a.co" in outputs_of(action)]
    asserts.equals(env, ["-fapprox-func,"], [option for option in device.argv if option in ["-fapprox-func,", "-fhost"]], "one option in each flag, commas and all")
    asserts.equals(env, ["-fhost"], [option for option in host.argv if option in ["-fapprox-func,", "-fhost"]])
    asserts.true(env, device.argv.index("-fapprox-func,") < device.argv.index("-fgpu-flush-denormals-to-zero"), "options of a library win")
    return analysistest.end(env)

_DEVICE_COPT, _HOST_COPT = str(Label("//hip:device_copt")), str(Label("//hip:host_copt"))
_build_options_test = analysistest.make(_build_options_impl, config_settings = _TOOLCHAIN | {_DEVICE_COPT: ["-fapprox-func,"], _HOST_COPT: ["-fhost"], _TARGETS: ["gfx90a"]})

_refused_flag_test = failure_test(_TOOLCHAIN | {_HOST_COPT: ["-MD"]})

def _declare(name):
    """Declares what the tests look at, and the sources of hip_link_tests.bzl as well."""
    for file in ["data.cu", "data.hip", "headers/data.h", "other.hip", "private.inc"]:
        write_file(name = name + "_" + file, out = file, tags = ["manual"])
    hip_library(
        name = name + "_library",
        srcs = ["data.cu", "data.hip", "headers/data.h"],
        hdrs = ["headers/data.h"],
        compress = True,
        copts = ["-Wall -include $(location headers/data.h)", "-DMODE=$(COMPILATION_MODE)"],
        defines = ["PUBLIC=1"],
        device_copts = ["-fgpu-flush-denormals-to-zero"],
        includes = ["headers"],
        linkopts = ["-Wl,-rpath,$ORIGIN/$(COMPILATION_MODE) -ldl"],
        local_defines = ["OWN"],
        tags = ["manual"],
    )
    hip_library(name = name + "_own", srcs = ["data.hip"], tags = ["manual"], targets = ["gfx110X-all", "gfx90a:xnack+"])
    hip_library(name = name + "_prefixed", srcs = ["data.hip"], hdrs = ["headers/data.h"], include_prefix = "acme", linkstatic = False, strip_include_prefix = "headers", tags = ["manual"])

def hip_test_suite(name):
    """Declares the tests of HIP libraries.

    Args:
        name: name of the suite.
    """
    _declare(name)
    _build_options_test(name = name + "_build_options_test", target_under_test = name + "_library")
    _one_target_test(name = name + "_one_target_test", target_under_test = name + "_library", targets = ["gfx90a"])
    _three_targets_test(name = name + "_three_targets_test", target_under_test = name + "_library", targets = ["gfx1100", "gfx908:sramecc+:xnack-", "gfx90a"])
    _host_test(name = name + "_host_test", target_under_test = name + "_library")
    _header_only_test(name = name + "_header_only_test", target_under_test = name + "_private")
    _own_targets_test(name = name + "_own_targets_test", target_under_test = name + "_own")
    _prefixed_test(name = name + "_prefixed_test", target_under_test = name + "_prefixed")
    messages = ["//hip/tests:{}_own: --@rules_rocm_python//hip:host_copt: -MD; expected no option about dependency files".format(name)]
    _refused_flag_test(name = name + "_refused_flag_test", messages = messages, target_under_test = name + "_own")
    native.test_suite(name = name, tests = _features(name) + [
        "{}_{}_test".format(name, what)
        for what in ["build_options", "prefixed", "one_target", "three_targets", "header_only", "host", "own_targets", "refused_flag"]
    ])
