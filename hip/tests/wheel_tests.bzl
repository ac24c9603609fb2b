"""Analysis tests of `hip_wheel`: its three rules are given each other's output, and the attributes that are theirs."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:common_settings.bzl", "string_flag")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("//develop/testing:analysis.bzl", "actions_of", "expect_failure")
load("//hip:defs.bzl", "hip_wheel")

visibility("private")

def _wheel_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = actions_of(env, ctx.attr.mnemonic)
    asserts.equals(env, ctx.attr.inputs, [argument.rpartition("/")[2] for argument in action.argv if argument.startswith(("--wheel=", "--wheels="))])
    for argument in ctx.attr.arguments:
        asserts.true(env, argument in action.argv, argument)
    asserts.equals(env, [analysistest.target_under_test(env).label.name], [file.basename for file in analysistest.target_under_test(env)[DefaultInfo].files.to_list()])
    return analysistest.end(env)

_wheel_test = analysistest.make(_wheel_impl, attrs = {
    "arguments": attr.string_list(doc = "Some of the action's arguments."),
    "inputs": attr.string_list(doc = "Names of the wheel, or of the directory of wheels, that the action reads."),
    "mnemonic": attr.string(doc = "The action's mnemonic."),
})

def hip_wheel_test_suite(name):
    """Declares wheels, and tests of the rules that make them.

    Args:
        name: name of the suite.
    """
    for file in ["wheel.md", "libown.so", "rocm.whl"]:
        write_file(name = "{}_written_{}".format(name, file), out = "{}_{}".format(name, file), tags = ["manual"])
    string_flag(name = name + "_version", build_setting_default = "1.0")
    about = dict(sdk = [name + "_rocm.whl"], tags = ["manual"])
    whole = dict(about, abi_tag = "abi3", description = name + "_wheel.md", distribution = "own", files = {name + "_libown.so": "own/libown.so"}, license_expression = "MIT", python_tag = "cp312", summary = "Own", version = name + "_version")
    hip_wheel(name = name + "_thin", init_py = "own", leave = ["libc.*"], take = ["libhipfft.*"], targets = ["gfx90a"], **whole)
    hip_wheel(name = name + "_fat", drop_bundled = True, wheel = name + "_rocm.whl", **about)
    tested = {
        "thin": ("RocmSplitWheel", [name + "_thin.requiring"], ["--targets=gfx90a", "--compression=balanced"]),
        "thin.requiring": ("RocmRequireSdk", ["own-1.0-cp312-abi3-linux_x86_64.whl"], ["--init-py=own", "--take=libhipfft.*", "--leave=libc.*"]),
        "fat": ("RocmRequireSdk", [name + "_rocm.whl"], ["--drop-bundled"]),
    }
    for target, (mnemonic, inputs, arguments) in tested.items():
        _wheel_test(name = "{}_{}_test".format(name, target), arguments = arguments, inputs = inputs, mnemonic = mnemonic, target_under_test = "{}_{}".format(name, target))

    # Messages name what the user wrote, not the hidden target that is refused.
    hip_wheel(name = name + "_without_sdk", sdk = [name + "_wheel.md"], tags = ["manual"], targets = ["gfx90a"], wheel = name + "_rocm.whl")
    messages = ["//hip/tests:{}_without_sdk: sdk has no wheels".format(name)]
    refused = expect_failure(name + "_without_sdk_test", "{}_without_sdk.requiring".format(name), messages)
    native.test_suite(name = name, tests = [refused] + ["{}_{}_test".format(name, target) for target in tested])
