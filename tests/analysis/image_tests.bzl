"""Test of sdk_layer: its action."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic")

visibility("private")

def _layer_impl(ctx):
    env = analysistest.begin(ctx)
    (layer,) = actions_of(env, "RocmLayer")
    assert_hermetic(env, layer)
    inputs = [file.basename for file in layer.inputs.to_list()]
    asserts.equals(env, 1, len([name for name in inputs if name.endswith(".whl")]), "a layer depends on its wheel alone")
    return analysistest.end(env)

_layer_test = analysistest.make(_layer_impl)

def image_test_suite(name):
    """Declares the test of layers.

    Args:
        name: name of the suite.
    """
    _layer_test(name = name + "_layer_test", target_under_test = "//examples/packages:core_layer")
    native.test_suite(name = name, tests = [name + "_layer_test"])
