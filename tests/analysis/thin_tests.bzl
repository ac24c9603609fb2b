"""Tests of thin packages: of which artifacts each is made, and which declarations are refused before anything runs."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("//develop/testing:analysis.bzl", "expect_failure")
load("//lib/gpus:gpu_table.bzl", "FAMILIES")
load("//packaging:selection.bzl", "default_target", "of_devel", "thin_refusal", "thin_selection")
load("//rules:sdk.bzl", "sdk_artifact", "sdk_gpu_package", "sdk_gpu_packages", "sdk_selector")

visibility("private")

def _artifacts(families):
    return [struct(name = "blas", component = "lib", target = target, label = target) for target in ["generic"] + families]

def _selection_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, None, thin_selection("family", _artifacts(["gfx9-all"]), []))
    one = thin_selection("thin", _artifacts(["gfx9-all"]), ["gfx1030", "gfx90a"], left_out = ["gfx1011"])
    asserts.equals(env, ["gfx9-all"], one.keys())
    asserts.equals(env, {"gfx1030": ["gfx1030"], "gfx90a": ["gfx90a"]}, one["gfx9-all"].packages)
    asserts.equals(env, ["gfx1011"], one["gfx9-all"].left_out)
    several = thin_selection("thin", _artifacts(["gfx110X-all", "gfx94X-dcgpu"]), ["gfx1101", "gfx110X-all", "gfx942"])
    asserts.equals(env, ["gfx110X-all", "gfx94X-dcgpu"], several.keys())
    first, second = several.values()
    asserts.equals(env, {"gfx1101": ["gfx1101"], "gfx110X-all": FAMILIES["gfx110X-all"]}, first.packages)
    asserts.equals(env, {"gfx942": ["gfx942"]}, second.packages)
    asserts.equals(env, [["gfx942"], FAMILIES["gfx110X-all"]], [first.left_out, second.left_out], "they have packages of the other family")
    families = ["gfx110X-all", "gfx94X-dcgpu"]
    second = thin_selection("thin", _artifacts(families), ["gfx942"])
    asserts.equals(env, ["generic", "gfx94X-dcgpu"], of_devel(False, families, second), "devel is of a family that has packages")
    asserts.equals(env, ["generic", "gfx110X-all"], of_devel(False, families, None))
    asserts.equals(env, ["generic"], of_devel(True, ["gfx1100"], None))
    asserts.equals(env, "gfx110X-all", default_target(["gfx103X-dgpu", "gfx110X-all"], ["gfx1100", "gfx1030"], FAMILIES))
    asserts.equals(env, "gfx1100", default_target(["gfx1030", "gfx1100", "gfx110X-all"], ["gfx1100"], FAMILIES))
    asserts.equals(env, ["gfx1030", ""], [default_target(["gfx1030"], ["gfx1100"], {}), default_target([], ["gfx1100"], {})])
    split = ["gfx1100", "gfx1250", "gfx90a"]
    asserts.equals(env, "gfx90a", default_target(split, ["gfx90a:xnack+", "gfx1250"], {}), "features are no reason to choose another")
    asserts.equals(env, "gfx1250", default_target(split, ["gfx1250-strict", "gfx90a"], {}))
    asserts.equals(env, "gfx94X-dcgpu", default_target(families, ["gfx942:xnack+", "gfx1100"], {}))
    return unittest.end(env)

# ROCM_TARGETS and ROCM_TARGETS_LEFT_OUT -> what the refusal says.
_REFUSED = {
    ("", ""): "expected the GPU targets to make packages for",
    ("foo", ""): "ROCM_TARGETS names foo: for the layout thin, expected a GPU target like gfx1100",
    ("gfx10-3-generic", ""): "ROCM_TARGETS names gfx10-3-generic: ",
    ("gfx103X-none", ""): "or one of the families dcgpu-all, ",
    ("gfx1100", "gfx1100"): "ROCM_TARGETS_LEFT_OUT names gfx1100, for which ROCM_TARGETS asks for a package",
    ("gfx1100", "gfx110X"): "ROCM_TARGETS_LEFT_OUT names gfx110X: ",
    ("gfx1100", "gfx110X-all"): "ROCM_TARGETS_LEFT_OUT names gfx1100, for which",
    ("gfx110X", ""): "ROCM_TARGETS names gfx110X: ",
    ("gfx942:xnack+", ""): "without features",
    ("gfx1250-strict", ""): "ROCM_TARGETS names gfx1250-strict, whose code is in the package of gfx1250; expected gfx1250",
}

def _split(text):
    return text.split(",") if text else []

def _refusal_impl(ctx):
    env = unittest.begin(ctx)
    for (targets, left_out), message in _REFUSED.items():
        refusal = thin_refusal(_split(targets), _split(left_out))
        asserts.true(env, refusal and message in refusal, "{}: {}".format(message, refusal))
    asserts.equals(env, None, thin_refusal(["gfx110X-all", "gfx90a"], ["gfx1011"]))
    return unittest.end(env)

_refusal_test = unittest.make(_refusal_impl)

_selection_test = unittest.make(_selection_impl)

# What a sdk_gpu_packages declares -> what the refusal says.
_DECLARED = {
    "left_out": (dict(left_out = ["gfx1030"], targets = {"gfx1030": ["gfx1030"]}), "left_out: gfx1030 has a package"),
    "targets": (dict(targets = {"gfx1030": []}), "targets: gfx1030 has no GPU targets; expected at least one"),
}

def _family_impl(ctx):
    env = analysistest.begin(ctx)
    (_, old) = [json.decode(action.content) for action in analysistest.target_actions(env) if action.mnemonic == "FileWrite" and action.outputs.to_list()[0].basename.endswith(".definition.json")]
    asserts.equals(env, ["gfx1200", "gfx1201"], old["slice"]["targets"], "a family stands for its members")
    asserts.equals(env, ["gfx1200", "gfx1201", "gfx942"], old["slice"]["all_targets"])
    return analysistest.end(env)

_family_test = analysistest.make(_family_impl)

def thin_test_suite(name):
    """Declares the tests of thin packages.

    Args:
        name: name of the suite.
    """
    unittest.suite(name + "_units", _selection_test, _refusal_test)
    sdk_artifact(name = name + "_artifact", srcs = {"data.txt": "lib/data"}, artifact_name = "mini", component = "lib", tags = ["manual"])
    common = dict(artifacts = [name + "_artifact"], package = "mini", tags = ["manual"], tree = "_mini_{target}")
    tests = []
    for what, (declared, message) in _DECLARED.items():
        sdk_gpu_packages(name = name + "_with_" + what, **(common | declared))
        tests.append(expect_failure("{}_{}_refused_test".format(name, what), name + "_with_" + what, [message]))
    sdk_gpu_packages(name = name + "_packages", targets = {"gfx1030": ["gfx1030"]}, **common)
    sdk_gpu_package(name = name + "_unknown", packages = name + "_packages", tags = ["manual"], target = "gfx1031")
    tests.append(expect_failure(name + "_unknown_refused_test", name + "_unknown", ["has no package for gfx1031; expected one of gfx1030"]))
    _family_test(name = name + "_family_test", target_under_test = name + "_of_family")
    sdk_gpu_packages(name = name + "_of_family", targets = {"new": ["gfx942"], "old": ["gfx120X-all"]}, **common)
    tests.append(name + "_family_test")
    sdk_selector(
        name = name + "_selector",
        default_target = "sm_70",
        description = "description.md",
        device_distribution = "acme-{target}",
        distribution = "acme",
        license_expression = "MIT",
        probe = "data.txt",
        summary = "Acme",
        tags = ["manual"],
        targets = {"sm_80": ["sm_80"]},
        version = "//examples/gpu_packages:version",
    )
    tests.append(expect_failure(name + "_default_refused_test", name + "_selector_data", ["thin_selector: default_target: there is no package for sm_70; expected one of sm_80"]))
    native.test_suite(name = name, tests = tests + [name + "_units"])
