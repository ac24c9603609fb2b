"""Tests of sdk_sonames: its actions, what waits for them, and what it is refused for."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic", "expect_failure")
load("//rules:sdk.bzl", "sdk_artifact", "sdk_index", "sdk_package", "sdk_sonames")

visibility("private")

def _sonames_impl(ctx):
    env = analysistest.begin(ctx)
    name = analysistest.target_under_test(env).label.name
    (computed,) = actions_of(env, "RocmSonames")
    (checked,) = actions_of(env, "RocmSonamesCheck")
    for action in [computed, checked]:
        assert_hermetic(env, action)
    asserts.true(env, "expected.json" in [file.basename for file in checked.inputs.to_list()])
    asserts.false(env, "expected.json" in [file.basename for file in computed.inputs.to_list()], "what is accepted is known before it is checked")
    asserts.equals(env, [name + ".json"], [file.basename for file in analysistest.target_under_test(env)[DefaultInfo].files.to_list()])
    return analysistest.end(env)

_sonames_test = analysistest.make(_sonames_impl)

def _index_impl(ctx):
    env = analysistest.begin(ctx)
    (index,) = actions_of(env, "RocmIndex")
    asserts.true(env, "sonames_subject.json" in [file.basename for file in index.inputs.to_list()], "the index waits for its checks")
    return analysistest.end(env)

_index_test = analysistest.make(_index_impl)

def sonames_test_suite(name):
    """Declares the tests of sdk_sonames.

    Args:
        name: name of the suite.
    """
    sdk_artifact(name = name + "_artifact", srcs = {"data.txt": "lib/data"}, artifact_name = "mini", component = "lib", tags = ["manual"])
    sdk_package(name = name + "_package", artifacts = [name + "_artifact"], package = "mini", tags = ["manual"], tree = "_mini")
    sdk_sonames(name = name + "_subject", expected = "expected.json", packages = [name + "_package"], tags = ["manual"])
    sdk_index(name = name + "_index", checks = [name + "_subject"], distributions = [], tags = ["manual"])
    native.filegroup(name = name + "_several", srcs = ["data.txt", "manifest.json"], tags = ["manual"])
    sdk_sonames(name = name + "_ambiguous", expected = name + "_several", packages = [name + "_package"], tags = ["manual"])
    _sonames_test(name = name + "_test", target_under_test = name + "_subject")
    _index_test(name = name + "_index_test", target_under_test = name + "_index")
    native.test_suite(name = name, tests = [
        name + "_test",
        name + "_index_test",
        expect_failure(name + "_ambiguous_refused_test", name + "_ambiguous", ["expected one file of the workspace"]),
    ])
