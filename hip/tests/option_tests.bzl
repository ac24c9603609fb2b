"""Analysis tests of options that a build gives HIP sources: compilation modes, `--copt`, and the C++ library of the toolchain."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("//develop/testing:analysis.bzl", "actions_of")
load("//hip:defs.bzl", "hip_library")
load("//hip/private:options.bzl", "device_linker_options", "refusal")  # buildifier: disable=bzl-visibility
load("//hip/private:programs.bzl", "attribute_refusal")  # buildifier: disable=bzl-visibility
load("//rules/shared:names.bzl", "shown")
load(":clang_options.bzl", "ACTING", "ATTRIBUTES", "REFUSED", "REFUSED_ATTRIBUTES", "TEST_ATTRIBUTES")
load(":sdk.bzl", "HIP_SDK", "HIP_TARGETS")

visibility("private")

# Compilation mode -> options of all compilations, and options that none has.
_MODES = {
    "dbg": (["-O0", "-g"], ["-DNDEBUG", "-O3"]),
    "fastbuild": (["-O1"], ["-DNDEBUG", "-O3", "-g"]),
    "opt": (["-O3", "-DNDEBUG"], ["-O0", "-g"]),
}

def _mode_impl(ctx):
    env = analysistest.begin(ctx)
    device, host = actions_of(env, "HipCompileDevice"), actions_of(env, "HipCompileHost")
    asserts.equals(env, (1, 1), (len(device), len(host)))
    for action in device + host:
        for option in ctx.attr.present + ["-DEVERYWHERE", "-DIN_CXX"]:
            asserts.true(env, option in action.argv, "{}: {}".format(action.mnemonic, option))
    for option in ctx.attr.absent:
        asserts.false(env, option in device[0].argv, option)
    return analysistest.end(env)

def _mode_test(mode):
    return analysistest.make(
        _mode_impl,
        attrs = {
            "absent": attr.string_list(doc = "Options that no compilation for GPUs has."),
            "present": attr.string_list(doc = "Options of all compilations."),
        },
        config_settings = HIP_SDK | {
            HIP_TARGETS: ["gfx90a"],
            "//command_line_option:compilation_mode": mode,
            "//command_line_option:copt": ["-DEVERYWHERE"],
            "//command_line_option:cxxopt": ["-DIN_CXX"],
        },
    )

_dbg_test = _mode_test("dbg")
_fastbuild_test = _mode_test("fastbuild")
_opt_test = _mode_test("opt")

def _toolchain_impl(ctx):
    env = analysistest.begin(ctx)
    actions = actions_of(env, "HipCompileDevice") + actions_of(env, "HipCompileHost")
    asserts.equals(env, 2, len(actions))
    for action in actions:
        for option in ctx.attr.present + ["--sysroot=own/sysroot"]:
            asserts.true(env, option in action.argv, "{}: {}".format(action.mnemonic, option))
        found = [argument for argument in action.argv if argument.startswith(("-stdlib", "-nostdinc++"))]
        asserts.equals(env, ctx.attr.library, found, action.mnemonic)
    return analysistest.end(env)

def _toolchain_test(cxxopts):
    return analysistest.make(
        _toolchain_impl,
        attrs = {
            "library": attr.string_list(doc = "The options about the C++ library."),
            "present": attr.string_list(doc = "Options of all compilations."),
        },
        config_settings = {
            HIP_TARGETS: ["gfx90a"],
            "//command_line_option:cxxopt": cxxopts,
            "//command_line_option:extra_toolchains": ["//hip/tests/sdk:" + name for name in ["cc_toolchain", "hip_toolchain"]],
        },
    )

_sysroot_test = _toolchain_test([])

# Which C++ library a build names -> what compilations get. Its own clang finds libc++ beside itself; the SDK's is elsewhere.
_LIBCXX = "-stdlib=libc++"
_OWN_LIBCXX = "-stdlib++-isystemown/sysroot/include/c++/v1"
_LIBRARIES = {
    "libcxx": ([_LIBCXX], [_OWN_LIBCXX]),
    "libstdcxx": ([_LIBCXX, "-stdlib=libstdc++"], [_LIBCXX, "-stdlib=libstdc++"]),
    "named": ([_LIBCXX, "-stdlib++-isystem", "mine"], [_LIBCXX, "-stdlib++-isystem"]),
    "none": (["-nostdinc++", _LIBCXX], ["-nostdinc++", _LIBCXX]),
}
_libcxx_test, _libstdcxx_test, _named_test, _none_test = [_toolchain_test(cxxopts) for cxxopts, _ in _LIBRARIES.values()]

def _each_option_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, [], [option for option in ACTING if refusal(option) or refusal(option + "=1")])
    asserts.equals(env, [], [option for option in REFUSED if not refusal(option) or not refusal(option + "=1")])
    return unittest.end(env)

_each_option_test = unittest.make(_each_option_impl)

def _each_attribute_impl(ctx):
    env = unittest.begin(ctx)
    for kind in ["hip_binary", "hip_test"]:
        taken = ATTRIBUTES + (TEST_ATTRIBUTES if kind == "hip_test" else [])
        refused = REFUSED_ATTRIBUTES + (TEST_ATTRIBUTES if kind == "hip_binary" else [])
        asserts.equals(env, [], [attribute for attribute in taken if attribute_refusal(kind, attribute)])
        asserts.equals(env, [], [attribute for attribute in refused if not attribute_refusal(kind, attribute)])
    return unittest.end(env)

_each_attribute_test = unittest.make(_each_attribute_impl)

# Options of compilations for GPUs -> what the linker of relocatable code gets. `clang -###` shows the same.
_LINKED = [
    (["-O1"], ["-plugin-opt=O1", "--lto-CGO1"]),
    (["-O1", "-Os", "-Ofast"], ["-plugin-opt=O3", "--lto-CGO3"]),
    (["-O0", "-g"], ["-plugin-opt=O0", "--lto-CGO0"]),
    (["-mllvm", "-amdgpu-x=1", "-mllvm=-y"], ["-plugin-opt=-amdgpu-x=1", "-plugin-opt=-y"]),
    (["-Xoffload-linker", "--no-x", "-Xoffload-linker-amdgcn-amd-amdhsa", "-y"], ["--no-x", "-y"]),
    (["-Oops", "-DX"], []),
]

def _device_linker_impl(ctx):
    env = unittest.begin(ctx)
    for options, expected in _LINKED:
        asserts.equals(env, expected, device_linker_options(options))
    return unittest.end(env)

_device_linker_test = unittest.make(_device_linker_impl)

# Labels -> how users write them.
_SHOWN = {
    "//a:b": "//a:b",
    "@@module~//a:b": "@module//a:b",
    "@@module~1.0//a:b": "@module//a:b",
    "@@module+//a:b": "@module//a:b",
    "@@rules_rocm_python~~rocm~rocm//:hip": "@rocm//:hip",
    "@@rules_rocm_python++rocm+rocm_6//:hip": "@rocm_6//:hip",
    "@@+rocm+rocm//:hip": "@rocm//:hip",
    "@@_main~rocm~rocm//:hip": "@rocm//:hip",
}

def _shown_impl(ctx):
    env = unittest.begin(ctx)
    for label, expected in _SHOWN.items():
        asserts.equals(env, expected, shown(Label(label)))
    return unittest.end(env)

_shown_test = unittest.make(_shown_impl)

def hip_option_test_suite(name):
    """Declares the tests of options of a build.

    Args:
        name: name of the suite.
    """
    write_file(name = name + "_written", out = name + ".hip", tags = ["manual"])
    hip_library(name = name + "_library", srcs = [name + ".hip"], tags = ["manual"])
    for mode, test in {"dbg": _dbg_test, "fastbuild": _fastbuild_test, "opt": _opt_test}.items():
        present, absent = _MODES[mode]
        test(name = "{}_{}_test".format(name, mode), absent = absent, present = present, target_under_test = name + "_library")
    system = ["--system=own/sysroot/usr/include"]  # headers of the sysroot need no target
    _sysroot_test(name = name + "_sysroot_test", present = system, target_under_test = name + "_library")
    for library, test in {"libcxx": _libcxx_test, "libstdcxx": _libstdcxx_test, "named": _named_test, "none": _none_test}.items():
        test(name = "{}_{}_test".format(name, library), library = _LIBRARIES[library][1], target_under_test = name + "_library")
    plain = {"device_linker": _device_linker_test, "each_attribute": _each_attribute_test, "each_option": _each_option_test, "shown": _shown_test}
    for what, test in plain.items():
        test(name = "{}_{}_test".format(name, what))
    native.test_suite(name = name, tests = ["{}_{}_test".format(name, what) for what in list(_MODES) + ["sysroot"] + list(_LIBRARIES) + list(plain)])
