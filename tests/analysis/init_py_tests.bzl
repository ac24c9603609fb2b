"""Analysis tests of rocm_init_py: its action, and what it says of attributes that make no sense."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic", "expect_failure")
load("//rules:rocm.bzl", "rocm_init_py")

visibility("private")

def _declares_impl(ctx):
    env = analysistest.begin(ctx)
    (output,) = analysistest.target_under_test(env)[DefaultInfo].files.to_list()
    asserts.true(env, output.path.endswith("tests/analysis/framework/_rocm_init.py"), output.path)
    (action,) = actions_of(env, "RocmInitPy")
    assert_hermetic(env, action)
    asserts.true(env, "data.txt" in [file.basename for file in action.inputs.to_list()], "the extension is an input")
    return analysistest.end(env)

_declares_test = analysistest.make(_declares_impl)

def init_py_test_suite(name):
    """Declares the tests of rocm_init_py.

    Args:
        name: name of the suite.
    """
    rocm_init_py(
        name = name + "_subject",
        out = "framework/_rocm_init.py",
        extensions = ["data.txt"],
        preload = ["amdhip64"],
        tags = ["manual"],
    )
    rocm_init_py(name = name + "_empty", out = "empty.py", tags = ["manual"])
    rocm_init_py(name = name + "_versionless", out = "versionless.py", fail_on_version_mismatch = True, preload = ["amdhip64"], tags = ["manual"])
    _declares_test(name = name + "_declares_test", target_under_test = name + "_subject")
    native.test_suite(name = name, tests = [
        name + "_declares_test",
        expect_failure(name + "_empty_test", name + "_empty", ["preload, extensions and check_version are not set"]),
        expect_failure(name + "_versionless_test", name + "_versionless", ["fail_on_version_mismatch needs check_version"]),
    ])
