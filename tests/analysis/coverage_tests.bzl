"""Tests of rocm_coverage: its action, and which packages may name it."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic", "expect_failure")
load("//rules:rocm.bzl", "rocm_coverage")
load("//rules:sdk.bzl", "sdk_artifact", "sdk_gpu_packages")

visibility("private")

def _coverage_impl(ctx):
    env = analysistest.begin(ctx)
    name = analysistest.target_under_test(env).label.name
    (computed,) = actions_of(env, "RocmCoverage")
    assert_hermetic(env, computed)
    asserts.equals(env, sorted([name + suffix for suffix in [".checked", ".lacks.json", ".json", ".txt"]]), sorted([file.basename for file in computed.outputs.to_list()]))
    files = [file.basename for file in analysistest.target_under_test(env)[DefaultInfo].files.to_list()]
    asserts.equals(env, sorted([name + suffix for suffix in [".json", ".txt"]]), sorted(files))
    return analysistest.end(env)

_coverage_test = analysistest.make(_coverage_impl)

def coverage_test_suite(name):
    """Declares the tests of rocm_coverage.

    Args:
        name: name of the suite.
    """
    sdk_artifact(name = name + "_artifact", srcs = {"data.txt": "lib/data"}, artifact_name = "mini", component = "lib", tags = ["manual"])
    sdk_artifact(name = name + "_other", srcs = {"data.txt": "lib/data"}, artifact_name = "other", component = "lib", tags = ["manual"])
    rocm_coverage(
        name = name + "_subject",
        artifacts = [name + "_artifact"],
        tags = ["manual"],
        targets = {"gfx1030": ["gfx1030"]},
    )
    _coverage_test(name = name + "_test", target_under_test = name + "_subject")
    tests = [name + "_test"]
    thin = dict(package = "mini", coverage = name + "_subject", tags = ["manual"], tree = "_mini_{target}")
    for what, declared, message in [
        ("artifact", dict(artifacts = [name + "_other"], targets = {"gfx1030": ["gfx1030"]}), "expected a rocm_coverage of the same artifacts"),
        ("target", dict(artifacts = [name + "_artifact"], targets = {"gfx1031": ["gfx1031"]}), "has other `targets` for gfx1031"),
    ]:
        sdk_gpu_packages(name = "{}_wrong_{}".format(name, what), **(thin | declared))
        tests.append(expect_failure("{}_wrong_{}_refused_test".format(name, what), "{}_wrong_{}".format(name, what), [message]))
    native.test_suite(name = name, tests = tests)
