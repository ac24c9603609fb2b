"""Tests of sdk_layer and sdk_image_layout: their actions, and what they are refused for."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic", "expect_failure")
load("//rules:images.bzl", "sdk_image_layout")

visibility("private")

def _layer_impl(ctx):
    env = analysistest.begin(ctx)
    (layer,) = actions_of(env, "RocmLayer")
    assert_hermetic(env, layer)
    inputs = [file.basename for file in layer.inputs.to_list()]
    asserts.equals(env, 1, len([name for name in inputs if name.endswith(".whl")]), "a layer depends on its wheel alone")
    return analysistest.end(env)

_layer_test = analysistest.make(_layer_impl)

def _image_impl(ctx):
    env = analysistest.begin(ctx)
    (image,) = actions_of(env, "RocmImage")
    assert_hermetic(env, image)
    (directory,) = analysistest.target_under_test(env)[DefaultInfo].files.to_list()
    asserts.true(env, directory.is_directory)
    return analysistest.end(env)

_image_test = analysistest.make(_image_impl)

def image_test_suite(name):
    """Declares the tests of layers and images.

    Args:
        name: name of the suite.
    """
    native.filegroup(name = name + "_several", srcs = ["data.txt", "manifest.json"], tags = ["manual"])
    sdk_image_layout(name = name + "_ambiguous", base = name + "_several", images = {"a": []}, reference = "localhost/a:1", tags = ["manual"])
    sdk_image_layout(name = name + "_empty", images = {}, reference = "localhost/a:1", tags = ["manual"])
    _layer_test(name = name + "_layer_test", target_under_test = "//examples/packages:core_layer")
    _image_test(name = name + "_image_test", target_under_test = "//examples/packages:images")
    _image_test(name = name + "_layout_test", target_under_test = "//tests/mini/split:images")
    native.test_suite(name = name, tests = [
        name + "_layer_test",
        name + "_image_test",
        name + "_layout_test",
        expect_failure(name + "_empty_refused_test", name + "_empty", ["images: names no image; expected one at least"]),
        expect_failure(name + "_ambiguous_refused_test", name + "_ambiguous", ["has 2 files; expected one: an OCI image layout"]),
    ])
