"""Analysis tests of what a build says about HIP: which SDK of several modules counts, and for which GPUs it compiles."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//develop/testing:analysis.bzl", "expect_failure")
load("//hip:sdk_repository.bzl", "hip_targets")
load("//hip/private:extension.bzl", "chosen_sdk")  # buildifier: disable=bzl-visibility
load("//hip/private:hip_targets.bzl", "with_native_targets")  # buildifier: disable=bzl-visibility

visibility("private")

# What a build names -> the targets.
_EXPANDED = {
    "none": ([], []),
    "a_family": (["gfx110X-all"], ["gfx1100", "gfx1101", "gfx1102", "gfx1103"]),
    "a_family_and_a_member": (["gfx110X-all", "gfx1100"], ["gfx1100", "gfx1101", "gfx1102", "gfx1103"]),
    "generic_ones": (["gfx9-4-generic", "gfx11-generic"], ["gfx11-generic", "gfx9-4-generic"]),
    "features": (["gfx90a:xnack+", "gfx90a:xnack-"], ["gfx90a:xnack+", "gfx90a:xnack-"]),
    "features_in_any_order": (["gfx90a:xnack+:sramecc-", "gfx9-4-generic:xnack+"], ["gfx9-4-generic:xnack+", "gfx90a:sramecc-:xnack+"]),
}

# Names of no target and no family -> the word that the refusal quotes.
_NO_TARGETS = {
    "empty": "",
    "a_prefix": "gfx",
    "no_family": "gfx110Y-all",
    "another_vendor": "sm_90",
    "two_in_one": "gfx942,gfx90a",
    "generic_for_none": "foo-generic",
    "without_a_feature": "gfx90a:",
    "a_feature_without_value": "gfx90a:xnack",
    "an_unknown_feature": "gfx90a:speed+",
    "contradicting_features": "gfx90a:xnack+:xnack-",
}

def _expanded_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, ctx.attr.targets, analysistest.target_under_test(env)[BuildSettingInfo].value)
    return analysistest.end(env)

_expanded_test = analysistest.make(_expanded_impl, attrs = {"targets": attr.string_list(doc = "The targets that are compiled for.")})

def _settings(name):
    """Declares settings and their tests; returns the names of these."""
    tests = []
    for what, (words, targets) in _EXPANDED.items():
        hip_targets(name = "{}_{}".format(name, what), build_setting_default = words, tags = ["manual"])
        tests.append("{}_{}_test".format(name, what))
        _expanded_test(name = tests[-1], target_under_test = "{}_{}".format(name, what), targets = targets)
    for what, word in _NO_TARGETS.items():
        label = "//hip/tests:{}_{}".format(name, what)
        hip_targets(name = "{}_{}".format(name, what), build_setting_default = [word], tags = ["manual"])
        messages = ["{}: there is no GPU target or family {}; expected names such as gfx942".format(label, repr(word)), "Set --{}=TARGET,TARGET".format(label)]
        tests.append(expect_failure("{}_{}_refused_test".format(name, what), label, messages))

    # Users type the name that their module gives the repository.
    hip_targets(name = name + "_option", build_setting_default = ["gfx"], option = "@acme//:targets", tags = ["manual"])
    messages = ["@acme//:targets: there is no GPU target or family \"gfx\"", "Set --@acme//:targets=TARGET,TARGET"]
    tests.append(expect_failure(name + "_option_refused_test", "//hip/tests:{}_option".format(name), messages))
    return tests

def _module(name, *paths, is_root = False, targets = []):
    """Returns a module that declares an SDK for each path."""
    tags = [struct(artifacts = None, path = path, targets = targets, variable = "", wheels = None) for path in paths]
    return struct(is_root = is_root, name = name, tags = struct(sdk = tags))

def _chosen_impl(ctx):
    env = unittest.begin(ctx)
    own, silent = _module("rules_rocm_python", "/opt/rocm"), _module("silent")
    near, far = _module("near", "/near"), _module("far", "/far")
    root = _module("root", "/root", is_root = True)
    for modules, path, title in [
        ([silent, own], "/opt/rocm", "no module declares hip.sdk, so ROCm is taken from its usual place"),
        ([own, near], "/near", "module near: hip.sdk"),
        ([root, own, near, far], "/root", "module root: hip.sdk"),
    ]:
        chosen = chosen_sdk(modules)
        asserts.equals(env, (path, title, ""), (chosen.tag.path, chosen.title, chosen.conflict))
    return unittest.end(env)

_chosen_test = unittest.make(_chosen_impl)

# Of two modules that are not the root -> how the first message goes on.
_CONFLICTS = [
    (_module("far", "/far"), " says path = \"/near\", and module far: hip.sdk says path = \"/far\"; "),
    (_module("far", "/near", targets = ["gfx90a"]), " says targets = [], and module far: hip.sdk says targets = [\"gfx90a\"]; "),
]

def _conflicts_impl(ctx):
    env = unittest.begin(ctx)
    near, remedy = _module("near", "/near"), "Declare hip.sdk in your own MODULE.bazel: the root module's counts"
    for other, middle in _CONFLICTS:
        one = chosen_sdk([near, other, _module("third", "/third")])
        asserts.equals(env, "module near: hip.sdk" + middle + "expected one SDK in a build. " + remedy, one.conflict)
    asserts.equals(env, "", chosen_sdk([near, _module("same", "/near")]).conflict)
    return unittest.end(env)

_conflicts_test = unittest.make(_conflicts_impl)

def _machine(gpus):
    """Returns a repository_ctx of a machine with a processor and GPUs, of which the kernel's driver tells the versions."""
    nodes = [
        struct(exists = True, get_child = lambda _, version = version: struct(exists = True, text = "simd_count 304\ngfx_target_version {}\n".format(version)))
        for version in [0] + gpus
    ]
    return struct(
        path = lambda _: struct(exists = bool(gpus), readdir = lambda watch: nodes),
        read = lambda file, watch: file.text,
    )

def _native_impl(ctx):
    env = unittest.begin(ctx)
    machine = _machine([90010, 90402, 100300, 110003, 90010])
    asserts.equals(env, ["gfx1030", "gfx1103", "gfx90a", "gfx942"], with_native_targets(machine, "tag", ["native"]))
    asserts.equals(env, ["gfx1201", "gfx90a"], with_native_targets(_machine([90010]), "tag", ["gfx1201", "native"]))
    asserts.equals(env, ["gfx942"], with_native_targets(None, "tag", ["gfx942"]), "no machine is asked")
    return unittest.end(env)

_native_test = unittest.make(_native_impl)

def hip_setting_test_suite(name):
    """Declares the tests of SDKs and GPU targets of a build.

    Args:
        name: name of the suite.
    """
    _chosen_test(name = name + "_chosen_test")
    _conflicts_test(name = name + "_conflicts_test")
    _native_test(name = name + "_native_test")
    native.test_suite(name = name, tests = _settings(name) + [name + "_chosen_test", name + "_conflicts_test", name + "_native_test"])
