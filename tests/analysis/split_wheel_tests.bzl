"""Analysis tests of sdk_split_wheel: its action, and a wheel for no GPU."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic", "expect_failure")
load("//rules:wheels.bzl", "sdk_split_wheel")

visibility("private")

def _declares_impl(ctx):
    env = analysistest.begin(ctx)
    (output,) = analysistest.target_under_test(env)[DefaultInfo].files.to_list()
    asserts.true(env, output.is_directory, output.path)
    (action,) = actions_of(env, "RocmSplitWheel")
    assert_hermetic(env, action)
    groups = analysistest.target_under_test(env)[OutputGroupInfo]
    asserts.equals(env, ["split_wheel_subject.report.txt"], [file.basename for file in groups.report.to_list()])
    asserts.true(env, "acme-1.0-py3-none-any.whl" in [file.basename for file in action.inputs.to_list()], "the wheel is an input")
    return analysistest.end(env)

_declares_test = analysistest.make(_declares_impl)

def _options_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = actions_of(env, "RocmSplitWheel")
    asserts.equals(env, [
        "--shape=wheel-variants",
        "--targets=gfx942,gfx1100",
        "--whole=*.bin",
        "--compression=fast",
        "--rewrite-record",
    ], [argument for argument in action.argv if argument.startswith("--") and not argument.startswith(("--label", "--output", "--report", "--wheels"))])
    return analysistest.end(env)

_options_test = analysistest.make(_options_impl)

def split_wheel_test_suite(name):
    """Declares the tests of sdk_split_wheel.

    Args:
        name: name of the suite.
    """
    sdk_split_wheel(name = name + "_subject", tags = ["manual"], targets = ["gfx942"], wheel = "acme-1.0-py3-none-any.whl")
    sdk_split_wheel(name = name + "_for_none", tags = ["manual"], targets = [], wheel = "acme-1.0-py3-none-any.whl")
    sdk_split_wheel(name = name + "_of_none", tags = ["manual"], targets = ["gfx942"], wheel = "data.txt")
    sdk_split_wheel(
        name = name + "_with_options",
        compression = "fast",
        rewrite_record = True,
        shape = "wheel-variants",
        tags = ["manual"],
        targets = ["gfx942", "gfx1100"],
        wheel = "acme-1.0-py3-none-any.whl",
        whole = ["*.bin"],
    )
    write_file(name = name + "_wheel", out = "acme-1.0-py3-none-any.whl", tags = ["manual"])
    _declares_test(name = name + "_declares_test", target_under_test = name + "_subject")
    _options_test(name = name + "_options_test", target_under_test = name + "_with_options")
    native.test_suite(name = name, tests = [
        name + "_declares_test",
        name + "_options_test",
        expect_failure(name + "_for_none_test", name + "_for_none", ["targets is empty"]),
        expect_failure(name + "_of_none_test", name + "_of_none", ["data.txt is not a wheel", "expected a file that ends with .whl"]),
    ])
