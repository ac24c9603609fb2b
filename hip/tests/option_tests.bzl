"""Analysis tests of options that a build gives HIP sources: compilation modes, `--copt`, and the C++ library of the toolchain."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("//develop/testing:analysis.bzl", "actions_of")
load("//hip:defs.bzl", "hip_library")
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
    native.test_suite(name = name, tests = ["{}_{}_test".format(name, what) for what in list(_MODES) + ["sysroot"] + list(_LIBRARIES)])
