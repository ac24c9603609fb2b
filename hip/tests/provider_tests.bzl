"""Analysis tests of a rule that somebody else writes on the public providers: HipInfo and the toolchain for HIP."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("//develop/testing:analysis.bzl", "failure_test")
load("//hip:defs.bzl", "hip_library")
load("//hip:providers.bzl", "HIP_TOOLCHAIN_ATTRS", "HipInfo", "find_hip_toolchain", "use_hip_toolchain")
load(":sdk.bzl", "HIP_SDK", "HIP_TARGETS")

visibility("private")

_CodeInfo = provider(doc = "What the rule sees.", fields = {"clang": "string: name of the compiler.", "code": "list of string."})

def _code_impl(ctx):
    code = [
        "{}: {} for {}: {}".format(one.label.name, one.source.basename, one.target, one.file.basename)
        for one in ctx.attr.dep[HipInfo].code_objects.to_list()
    ]
    return [_CodeInfo(clang = find_hip_toolchain(ctx).clang.basename, code = sorted(code))]

_code = rule(
    doc = "Reads the device code of a library.",
    implementation = _code_impl,
    attrs = HIP_TOOLCHAIN_ATTRS | {"dep": attr.label(mandatory = True, providers = [HipInfo])},
    toolchains = use_hip_toolchain(),
)

def _code_test_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[_CodeInfo]
    asserts.equals(env, "clang", info.clang)
    asserts.equals(env, [
        "hip_provider_{0}: {0}.hip for {1}: {0}.hip.{1}.co".format(which, target)
        for which in ["below", "own"]
        for target in ["gfx1100", "gfx90a"]
    ], info.code)
    return analysistest.end(env)

_code_test = analysistest.make(_code_test_impl, config_settings = HIP_SDK | {HIP_TARGETS: ["gfx90a", "gfx1100"]})
_disabled_test = failure_test(HIP_SDK | {str(Label("//hip:enabled")): False})

def hip_provider_test_suite(name):
    """Declares the tests of the public providers.

    Args:
        name: name of the suite.
    """
    for which, deps in [("below", []), ("own", [name + "_below"])]:
        write_file(name = "{}_{}_written".format(name, which), out = which + ".hip", tags = ["manual"])
        hip_library(name = "{}_{}".format(name, which), srcs = [which + ".hip"], tags = ["manual"], deps = deps)
    _code(name = name + "_code", tags = ["manual"], dep = name + "_own")
    _code_test(name = name + "_code_test", target_under_test = name + "_code")
    messages = ["HIP is turned off (--@rules_rocm_python//hip:enabled=false), and the target needs it. Turn it on."]
    _disabled_test(name = name + "_disabled_test", messages = messages, target_under_test = name + "_code")
    native.test_suite(name = name, tests = [name + "_code_test", name + "_disabled_test"])
