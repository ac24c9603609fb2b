"""Analysis tests of sdk_package: one plan, one pack action per unit, which reads only what it needs."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//develop/testing:analysis.bzl", "actions_of", "assert_hermetic", "expect_failure")
load("//rules:catalog.bzl", "catalogued_artifact")
load("//rules:providers.bzl", "PackageInfo")
load("//rules:sdk.bzl", "sdk_artifact", "sdk_package")

visibility("private")

def _names(files):
    return sorted([file.basename for file in files.to_list()])

def _declares_impl(ctx):
    env = analysistest.begin(ctx)
    (plan,) = actions_of(env, "RocmPlan")
    packs = actions_of(env, "RocmPack")
    asserts.equals(env, 3, len(packs), "one action per unit: two of small files, one of a big one")
    for action in [plan] + packs:
        assert_hermetic(env, action)
    info = analysistest.target_under_test(env)[PackageInfo]
    asserts.equals(env, "_mini", info.definition.tree)
    asserts.equals(env, 3, len(info.segments.to_list()))

    # The plan reads no bulk data, and a pack action neither the plan nor another unit's files.
    asserts.false(env, "data.txt" in _names(plan.inputs), "the plan reads facts, not files")
    for pack in packs:
        names = _names(pack.inputs)
        asserts.false(env, info.plan.basename in names, "pack reads its own edit file, not the plan: " + str(names))
        asserts.equals(env, 1, len([file for file in pack.inputs.to_list() if ".edits/" in file.path]))
    return analysistest.end(env)

_declares_test = analysistest.make(_declares_impl)

def _provides_plan_impl(ctx):
    env = analysistest.begin(ctx)
    files = analysistest.target_under_test(env)[DefaultInfo].files
    asserts.equals(env, [analysistest.target_under_test(env)[PackageInfo].plan], files.to_list())
    return analysistest.end(env)

_provides_plan_test = analysistest.make(_provides_plan_impl)

def _links_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, 2, len(actions_of(env, "RocmPack")), "a devel package links to the big files of the package that it builds on")
    return analysistest.end(env)

_links_test = analysistest.make(_links_impl)

def _repacks_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.equals(env, 3, len(actions_of(env, "RocmPack")), "an artifact in `repacked` is packed whole")
    return analysistest.end(env)

_repacks_test = analysistest.make(_repacks_impl)

def package_test_suite(name):
    """Declares the tests of sdk_package.

    Args:
        name: name of the suite.
    """
    sdk_artifact(name = name + "_built", srcs = {"data.txt": "lib/data"}, artifact_name = "mini", component = "lib", tags = ["manual"])
    catalogued_artifact(
        name = name + "_found",
        artifact_name = "mini",
        big_srcs = ["data.txt"],
        big_threads = [1],
        component = "dev",
        big_manifests = ["manifest.json"],
        manifest = "manifest.json",
        small_manifest = "manifest.json",
        tags = ["manual"],
        target = "generic",
    )
    sdk_package(
        name = name + "_package",
        artifacts = [name + "_built", name + "_found"],
        package = "mini",
        tags = ["manual"],
        tree = "_mini",
    )
    devel = dict(
        artifacts = [name + "_built", name + "_found"],
        builds_on = [name + "_package"],
        kind = "devel",
        package = "devel",
        tags = ["manual"],
        tree = "_devel",
    )
    sdk_artifact(name = name + "_again", srcs = {"description.md": "lib/other"}, artifact_name = "mini", component = "lib", tags = ["manual"])
    sdk_package(name = name + "_alike", artifacts = [name + "_built", name + "_again"], package = "mini", tags = ["manual"], tree = "_mini")
    sdk_package(name = name + "_devel", **devel)
    sdk_package(name = name + "_repacking", repacked = [name + "_found"], **devel)
    _declares_test(name = name + "_declares_test", target_under_test = name + "_package")
    _provides_plan_test(name = name + "_provides_plan_test", target_under_test = name + "_package")
    _links_test(name = name + "_links_test", target_under_test = name + "_devel")
    _repacks_test(name = name + "_repacks_test", target_under_test = name + "_repacking")
    both = "//tests/analysis:{}_built and //tests/analysis:{}_again are both mini_lib_generic; expected distinct names".format(name, name)
    expect_failure(name + "_alike_test", name + "_alike", [both])
    sdk_package(name = name + "_outside", package = "mini", tags = ["manual"], tree = "../mini")
    expect_failure(name + "_outside_test", name + "_outside", ["tree \"../mini\": expected a relative path without '..', '.' or empty parts"])
    sdk_package(name = name + "_forgotten", allow_unmatched = ["a/**", "b", "c"], exclude = ["c"], include = ["a/**"], package = "mini", tags = ["manual"], tree = "_mini")
    expect_failure(name + "_forgotten_test", name + "_forgotten", ["allow_unmatched: \"b\" is in none of `include`, `exclude` and `rpath`"])
    native.test_suite(
        name = name,
        tests = [name + "_" + test + "_test" for test in ["alike", "declares", "forgotten", "links", "outside", "provides_plan", "repacks"]],
    )
