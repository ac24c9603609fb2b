"""Analysis tests of sdk_requiring_wheel: its action, its report, and an SDK without wheels."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@bazel_skylib//rules:write_file.bzl", "write_file")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic", "expect_failure")
load("//rules:wheels.bzl", "sdk_requiring_wheel", "sdk_split_wheel")

visibility("private")

_WHEEL = "user-1.0-py3-none-any.whl"
_SDK = "sdk_core-1.0-py3-none-any.whl"
_SDIST = "sdk-1.0.tar.gz"

def _declares_impl(ctx):
    env = analysistest.begin(ctx)
    (output,) = analysistest.target_under_test(env)[DefaultInfo].files.to_list()
    asserts.true(env, output.is_directory, output.path)
    (report,) = analysistest.target_under_test(env)[OutputGroupInfo].report.to_list()
    asserts.equals(env, "requiring_wheel_subject.report.txt", report.basename)
    (action,) = actions_of(env, "RocmRequireSdk")
    assert_hermetic(env, action)
    inputs = [file.basename for file in action.inputs.to_list()]
    asserts.true(env, _WHEEL in inputs, "the wheel is an input")
    asserts.true(env, _SDK in inputs, "the SDK's wheel is an input")
    asserts.true(env, _SDIST in inputs, "what selects among the SDK's wheels is an input")
    asserts.true(env, "requiring_wheel_directory" in inputs, "a directory of wheels is an input")
    asserts.false(env, "data.txt" in inputs, "no other file of the SDK is an input")
    return analysistest.end(env)

_declares_test = analysistest.make(_declares_impl)

def _options_impl(ctx):
    env = analysistest.begin(ctx)
    (action,) = actions_of(env, "RocmRequireSdk")
    asserts.equals(env, [
        "--allow-missing=other_*",
        "--device=gfx942",
        "--drop-bundled",
        "--externals=libtorch*",
        "--init-py=user",
        "--leave=libz.so*",
        "--local-version=ours",
        "--specifier=>=1,<2",
        "--take=libm.so*",
        "--compression=small",
        "--rewrite-record",
    ], [argument for argument in action.argv if argument.startswith("--") and not argument.startswith(("--label", "--output", "--report", "--sdk", "--wheel"))])
    return analysistest.end(env)

_options_test = analysistest.make(_options_impl)

def requiring_wheel_test_suite(name):
    """Declares the tests of sdk_requiring_wheel.

    Args:
        name: name of the suite.
    """
    sdk_requiring_wheel(name = name + "_subject", sdk = [_SDK, _SDIST, name + "_directory", "data.txt"], tags = ["manual"], wheel = _WHEEL)
    sdk_requiring_wheel(name = name + "_of_none", sdk = [_SDIST, "data.txt"], tags = ["manual"], wheel = _WHEEL)
    sdk_requiring_wheel(
        name = name + "_with_options",
        allow_missing = ["other_*"],
        compression = "small",
        device = "gfx942",
        drop_bundled = True,
        externals = ["libtorch*"],
        init_py = "user",
        leave = ["libz.so*"],
        local_version = "ours",
        rewrite_record = True,
        sdk = [_SDK],
        specifier = ">=1,<2",
        tags = ["manual"],
        take = ["libm.so*"],
        wheel = _WHEEL,
    )
    write_file(name = name + "_wheel", out = _WHEEL, tags = ["manual"])
    write_file(name = name + "_sdk", out = _SDK, tags = ["manual"])
    sdk_split_wheel(name = name + "_directory", tags = ["manual"], targets = ["gfx942"], wheel = _WHEEL)
    write_file(name = name + "_sdist", out = _SDIST, tags = ["manual"])
    _declares_test(name = name + "_declares_test", target_under_test = name + "_subject")
    _options_test(name = name + "_options_test", target_under_test = name + "_with_options")
    native.test_suite(name = name, tests = [
        name + "_declares_test",
        name + "_options_test",
        expect_failure(name + "_of_none_test", name + "_of_none", ["sdk has no wheels"]),
    ])
